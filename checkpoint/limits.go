package checkpoint

// Every bound of notes and policies. A reader may rely on them; changing one is a new version.
const (
	MaxName       = 255      // bytes of a key's name, which is also a log's origin
	MaxNote       = 60 << 10 // bytes of a signed note; with its proof it stays below event.MaxProof
	MaxSignatures = 32       // signature lines of a note; C2SP signed-note asks for 16 at least
	MaxPolicy     = 64 << 10 // bytes of a policy
	MaxLines      = 64       // logs, witnesses and groups of a policy, each; tlog-policy asks for 32 at least
)
