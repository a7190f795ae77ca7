"""How large a reply in Slack may be. Our own numbers stay below Slack's, whose server has the last word."""

from typing import Final

# Slack refuses more than about 13,200 characters over all blocks; its own counting is not published.
MESSAGE_CHARS: Final = 12_000
# Slack allows 50 blocks a message, some of which it expands.
MESSAGE_BLOCKS: Final = 45
SECTION_CHARS: Final = 2_900
CONTEXT_CHARS: Final = 1_500
TABLE_ROWS: Final = 100
TABLE_COLUMNS: Final = 20
TABLE_CHARS: Final = 7_000
CELL_CHARS: Final = 300
# 4,000 characters of `text` are recommended; `chat.update` refuses more.
TEXT_CHARS: Final = 3_900
NOTIFICATION_CHARS: Final = 700
BUTTON_CHARS: Final = 75
PLACEHOLDER_CHARS: Final = 150
OPTION_CHARS: Final = 75
SELECT_OPTIONS: Final = 20
SELECTS: Final = 12
# All selects of a message together, so that they never crowd out the answer.
SELECT_CHARS: Final = 3_000
ACTIONS_A_BLOCK: Final = 25
# A longer answer goes into a file: a thread of ten messages is read by nobody.
MESSAGES: Final = 3
