import pytest

from sizing.errors import SizewiseError, UserError


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (
            UserError("model.id", "lama 8b", "No model 'lama 8b' is known.", ("meta-llama/Llama-3.1-8B-Instruct",)),
            {
                "field": "model.id",
                "message": "No model 'lama 8b' is known.",
                "value": "lama 8b",
                "suggestions": ["meta-llama/Llama-3.1-8B-Instruct"],
            },
        ),
        (UserError("concurrency", 0, "At least 1."), {"field": "concurrency", "message": "At least 1.", "value": 0}),
        (UserError("model", None, "Name a model."), {"field": "model", "message": "Name a model."}),
    ],
)
def test_answer_line_names_field_value_and_what_would_work(error: UserError, expected: dict[str, object]) -> None:
    assert error.to_dict() == expected
    assert str(error) == expected["message"]
    assert isinstance(error, SizewiseError)
