// Package testvectors holds the facts that any implementation of the ledger's formats can be held
// against: JSON files by area, each with its cases and, for invalid ones, what must catch them. Its
// README describes every format. The Go package only embeds the files and imports nothing of ours.
package testvectors

import "embed"

// FS holds the vector files by their path in this folder, such as "canon/parse.json".
//
//go:embed */*.json
var FS embed.FS
