"""`python -m bot`: `parse` answers without loading anything but the reader; every other command belongs to the command line."""

import sys


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["parse"]:
        from bot.understand.parse_cli import parse_lines
        from sizing.json_lines import tolerant

        return parse_lines(tolerant(sys.stdin), tolerant(sys.stdout))
    from bot.cli import main as command_line

    return command_line(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
