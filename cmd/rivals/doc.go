// Package rivals measures the ledger beside programs that do a part of its work. It is a module of
// its own, so that nothing of theirs is linked into the product or listed in its go.mod.
//
//	make rivals
//
// # What is compared
//
// 256 writers append signed moves of 600 bytes, each to a match of its own, and wait for each until
// it is durable. The same bytes go into each log:
//
//   - ours: ledger/sequencer over ledger/pebblelog, with the signature of each event checked by its
//     writer before it is appended, and without;
//   - Tessera's POSIX driver (batches of 256, at most 5 ms), until the entry is integrated. It
//     checks no signature and knows no streams;
//   - immudb's embedded store, synced, one transaction for an event under a key of its own. It
//     checks no signature either. Its sync interval is the best of those tried.
//
// One figure is the median of the ratios of five pairs of samples, ours and theirs in turn, each
// into a fresh folder: the machine's moods fall on both.
//
// Move generators count the same positions from the start and from a middle game position.
package rivals
