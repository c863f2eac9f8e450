package notation

// Bounds of one .mat match, besides MaxMoves, which bounds its turns.
const (
	MaxMatLine     = 1 << 10 // bytes of one line, as UTF-8 or as read
	MaxMatGames    = 1000
	MaxMatName     = 128 // bytes of a player's name, as UTF-8
	MaxMatPlay     = 128 // bytes of a play
	MaxMatComments = 64  // lines of comments that are kept
	MaxMatComment  = 512 // bytes of such a line; longer ones are dropped
)

// maxMatCount is the largest number in a .mat: six digits.
const maxMatCount = 999_999
