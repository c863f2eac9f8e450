// Package layers holds the order of the house, and checks that the code keeps it: which package may
// import which, what pure code may touch, and who alone may touch a dangerous thing. Its test runs
// the check on this module; it reads the files, so that the test cache sees every change.
//
// The rules are those of the design:
//
//   - Every package has its row in rows. It imports only packages of rows above its own in the list,
//     never of its own row. Tests may import anything.
//   - Packages before firstShell are pure. They import what pureImports and pureModules list, start
//     no goroutine, have no init function, and keep no package state: a package-level variable has a
//     value from the start, and no function assigns to it.
//   - What owners names is imported by its owner only.
//   - The folders at the top are those of tops.
//
// The check sees syntax only. State behind a pointer or a method of a package-level value escapes
// it; a reader has to see that.
package layers

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Module is the module's path, the first element of every import of our own.
const Module = "ludger"

// rows lists every package of the design from the bottom. A package that does not exist yet has its
// place all the same.
var rows = [][]string{
	0:  {"testvectors"},
	1:  {"ledger/canon", "engine", "engine/chance", "engine/rating"},
	2:  {"ledger/sign", "engine/chess", "engine/backgammon", "engine/battleship", "checkpoint/beacon"}, // beacon needs D, which is canon.Digest
	3:  {"ledger/event", "checkpoint", "engine/catalog", "engine/enginetest"},
	4:  {"checkpoint/tiles", "engine/hall", "engine/edgerun"},
	5:  {"ledger", "checkpoint/proof"}, // ledger reads tree hashes, and tiles says how they join
	6:  {"replay"},
	7:  {"replay/audit", "replay/notation"},
	8:  {"ledger/sequencer", "ledger/memlog", "ledger/pebblelog", "ledger/logtest", "checkpoint/drand", "checkpoint/drand/drandtest", "checkpoint/witness", "checkpoint/mirror", "api/egress", "replay/export"},
	9:  {"checkpoint/publish", "api/arena", "api/wire", "api/auth", "api/web"},
	10: {"api/ludux", "api/edgearena", "api/doorbell", "api/mcp", "api/client"},
	11: {"api"},
	12: {"cmd/ludger", "cmd/ludger-wasm", "cmd/internal/figures", "cmd/internal/layers"},
}

// firstShell is the first row below the purity line.
const firstShell = 8

// pureImports are the packages of the standard library that pure code may import. None of them
// gives a clock, a disk, a network, randomness, a log line or a way to share state.
var pureImports = []string{
	"bufio", "bytes", "cmp", "context", "crypto/hkdf", "crypto/hmac", "crypto/sha256", "crypto/sha512", "embed", "encoding", "encoding/base64", "encoding/binary",
	"encoding/hex", "errors", "fmt", "hash", "io", "iter", "maps", "math", "math/big", "math/bits", "slices", "sort", "strconv",
	"strings", "unicode", "unicode/utf16", "unicode/utf8",
}

// pureModules are the packages of others that pure code may import, by prefix; owners apply besides.
var pureModules = []string{
	"filippo.io/edwards25519",
	"github.com/cbergoon/merkletree",
	"github.com/consensys/gnark-crypto",
	"github.com/oasisprotocol/curve25519-voi",
	"golang.org/x/crypto/chacha20poly1305",
	"golang.org/x/crypto/sha3",
}

// exceptions are imports of one package that its purity would not allow.
var exceptions = map[string][]string{
	"engine/enginetest": {"testing"},        // it runs in tests only
	"ledger/sign":       {"crypto/ed25519"}, // signing is deterministic
}

// owners says who alone imports a dangerous thing, given by prefix; "" is nobody.
var owners = map[string]string{
	"github.com/labstack/echo/v4/middleware":  "", // has known holes
	"github.com/drand":                        "checkpoint/drand",
	"crypto/ed25519":                          "ledger/sign",
	"filippo.io/edwards25519":                 "ledger/sign",
	"github.com/oasisprotocol/curve25519-voi": "ledger/sign",
	"github.com/cockroachdb/pebble":           "ledger/pebblelog",
	"github.com/consensys/gnark-crypto":       "checkpoint/beacon",
}

// tops are the folders at the top, dotfiles aside.
var tops = []string{"api", "checkpoint", "cmd", "engine", "ledger", "replay", "testvectors"}

// Check returns what breaks the rules in the module whose folder is root, each with its place.
// Folders with a go.mod of their own are other modules.
func Check(root fs.FS) ([]string, error) {
	c := checker{fset: token.NewFileSet(), row: map[string]int{}}
	for i, row := range rows {
		for _, p := range row {
			c.row[p] = i
		}
	}
	folders := map[string][]string{} // Go files without tests
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name == ".":
			return nil
		case d.IsDir():
			if d.Name()[0] == '.' || d.Name()[0] == '_' || d.Name() == "testdata" {
				return fs.SkipDir
			}
			if !strings.Contains(name, "/") && !slices.Contains(tops, name) {
				c.fail(name, "is not a folder of the design")
			}
			if _, err := fs.Stat(root, path.Join(name, "go.mod")); err == nil {
				return fs.SkipDir
			}
		case strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go"):
			folders[path.Dir(name)] = append(folders[path.Dir(name)], name)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for pkg, files := range folders {
		row, ok := c.row[pkg]
		if !ok {
			c.fail(pkg, "has no row in the table of layers")
			continue
		}
		var parsed []*ast.File
		for _, name := range files {
			src, err := fs.ReadFile(root, name)
			if err != nil {
				return nil, err
			}
			mode := parser.ImportsOnly
			if row < firstShell {
				mode = 0
			}
			f, err := parser.ParseFile(c.fset, name, src, mode)
			if err != nil {
				return nil, err
			}
			c.imports(pkg, row, f)
			parsed = append(parsed, f)
		}
		if row < firstShell {
			c.purity(parsed)
		}
	}
	slices.Sort(c.found)
	return c.found, nil
}

type checker struct {
	fset  *token.FileSet
	row   map[string]int
	found []string
}

func (c *checker) fail(place, reason string) { c.found = append(c.found, place+": "+reason) }

func (c *checker) at(n ast.Node, reason string) {
	c.fail(c.fset.Position(n.Pos()).String(), reason)
}

func (c *checker) imports(pkg string, row int, f *ast.File) {
	for _, spec := range f.Imports {
		imp, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			c.at(spec, "imports "+spec.Path.Value)
			continue
		}
		if own, ok := strings.CutPrefix(imp, Module+"/"); ok {
			switch below, ok := c.row[own]; {
			case !ok:
				c.at(spec, own+" has no row in the table of layers")
			case below >= row:
				c.at(spec, fmt.Sprintf("%s of row %d imports %s of row %d", pkg, row, own, below))
			}
			continue
		}
		for thing, owner := range owners {
			if under(imp, thing) && pkg != owner {
				c.at(spec, fmt.Sprintf("%s imports %s, which only %s may", pkg, imp, owner))
			}
		}
		if row < firstShell && !slices.Contains(pureImports, imp) && !slices.Contains(exceptions[pkg], imp) &&
			!slices.ContainsFunc(pureModules, func(m string) bool { return under(imp, m) }) {
			c.at(spec, fmt.Sprintf("%s is pure and imports %s", pkg, imp))
		}
	}
}

// under tells whether the import is the package or below it.
func under(imp, pkg string) bool { return imp == pkg || strings.HasPrefix(imp, pkg+"/") }

// purity checks the files of one package for goroutines, init functions and state.
func (c *checker) purity(files []*ast.File) {
	vars := map[string]bool{} // package-level
	for _, f := range files {
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR {
				continue
			}
			for _, s := range g.Specs {
				v := s.(*ast.ValueSpec)
				if len(v.Values) == 0 && !isSelector(v.Type, "embed", "FS") {
					c.at(v, "package-level variable without a value: package state")
				}
				for _, name := range v.Names {
					vars[name.Name] = true
				}
			}
		}
	}
	for _, f := range files {
		// The parser resolves a name to what declares it in the same file; a package-level name of
		// another file stays unresolved, and a local one never does.
		global := func(e ast.Expr) *ast.Ident {
			id := root(e)
			if id == nil || !vars[id.Name] || id.Obj != nil && f.Scope.Lookup(id.Name) != id.Obj {
				return nil
			}
			return id
		}
		assigned := func(e ast.Expr) {
			if id := global(e); id != nil {
				c.at(e, "assigns to the package-level variable "+id.Name)
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Name.Name == "init" && n.Recv == nil {
					c.at(n, "init function")
				}
			case *ast.GoStmt:
				c.at(n, "starts a goroutine")
			case *ast.SendStmt:
				assigned(n.Chan)
			case *ast.IncDecStmt:
				assigned(n.X)
			case *ast.AssignStmt:
				if n.Tok != token.DEFINE {
					for _, e := range n.Lhs {
						assigned(e)
					}
				}
			case *ast.RangeStmt:
				if n.Tok == token.ASSIGN {
					assigned(n.Key)
					assigned(n.Value)
				}
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.Ident); ok && len(n.Args) > 0 && slices.Contains([]string{"clear", "close", "copy", "delete"}, f.Name) {
					assigned(n.Args[0])
				}
			}
			return true
		})
	}
}

// root returns the variable an expression reads or writes into, nil if it is none.
func root(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.IndexExpr:
			e = x.X
		case *ast.SelectorExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return nil
		}
	}
}

func isSelector(e ast.Expr, pkg, name string) bool {
	s, ok := e.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	x, ok := s.X.(*ast.Ident)
	return ok && x.Name == pkg && s.Sel.Name == name
}
