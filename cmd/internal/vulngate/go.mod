// The vulnerability gate's tools and its database, kept out of the product's go.mod. x/vulndb is
// imported by nothing: its data/osv is what govulncheck reads. See the target vuln in the Makefile.
module ludger/cmd/internal/vulngate

go 1.26.0

toolchain go1.27.3

tool golang.org/x/vuln/cmd/govulncheck

require (
	golang.org/x/mod v0.42.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/telemetry v0.0.0-20261010193011-f71dc92da45e // indirect
	golang.org/x/tools v0.52.0 // indirect
	golang.org/x/vuln v1.9.0 // indirect
	golang.org/x/vulndb v0.0.0-20261105234957-e22db6528018
)
