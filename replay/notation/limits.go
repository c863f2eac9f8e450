package notation

// Bounds of one PGN game. What is kept of a game is bounded; what is skipped, such as a variation
// or white space, is read in passing and needs none. They are far above what real files hold and
// keep a hostile file from taking memory.
const (
	MaxTags     = 64       // tag pairs of one game
	MaxTagName  = 64       // bytes of a tag's name
	MaxTagValue = 1 << 10  // bytes of a tag's value, as UTF-8
	MaxComment  = 16 << 10 // bytes of one comment, as UTF-8
	MaxSAN      = 16       // bytes of one move
	MaxNAG      = 255      // the largest numeric annotation glyph (PGN section 10)
	MaxDepth    = 64       // variations inside each other
	MaxMoves    = 20_000   // half-moves; the seventy-five-move rule ends a game of chess before 18,000
	MaxText     = 1 << 20  // bytes of all comments and annotations of a game, with textCost for each
)

// textCost is what a comment costs beside its bytes, so that many short ones are bounded too.
const textCost = 16
