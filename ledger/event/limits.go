package event

// Every bound of the ledger's formats. A reader may rely on them; changing one is a new version.
const (
	MaxEvent      = 32 << 10 // bytes of one event; the tile format ends at 65,535 (C2SP tlog-tiles)
	MaxDepth      = 12       // arrays and objects around any value of an event
	MaxValues     = 1 << 10  // JSON values in one event
	MaxKind       = 40       // characters of a kind
	MaxStream     = 70       // characters of a stream's name
	MinHandle     = 3        // characters of a handle or an arena's name
	MaxHandle     = 32
	MaxCommentary = 1 << 10               // bytes of the commentary in a signed body
	MaxSignedMove = 8 << 10               // bytes of a signed body
	MaxWord       = 40                    // characters of a word such as a reason or a variant
	MaxModel      = 128                   // bytes of a model's name
	MaxChallenge  = 128                   // characters of a challenge
	MaxJoin       = 1 << 10               // bytes of the body of a request to join or to leave
	MaxDocket     = 2 << 10               // bytes of the text of a docket entry
	MaxOrigin     = 255                   // bytes of a log's origin
	MaxVerifier   = 400                   // bytes of a note verifier key
	MaxKeys       = 8                     // verifier keys of one log
	MaxRule       = 200                   // bytes of the text that names a rule
	MaxBox        = 10 << 10              // bytes that the largest box holds: a signed body, a move and where they stand
	MaxRound      = 1 << 40               // of a beacon
	MaxBeacon     = 256                   // bytes of a beacon's signature
	MaxDelay      = 1 << 20               // beacon rounds from a match's opening to the one that counts
	MaxClock      = 90 * 24 * 3600 * 1000 // milliseconds for one move: ninety days

	MaxMatchEvents  = 20_000   // events of one match
	MaxBundle       = 32 << 20 // bytes of a bundle
	MaxBundleDepth  = MaxDepth + 3
	MaxBundleValues = 1 << 19  // JSON values in one bundle; no move takes more than 22
	MaxProof        = 64 << 10 // bytes of a tlog-proof text, its checkpoint included
	MaxAgents       = 64       // registrations in one bundle
)
