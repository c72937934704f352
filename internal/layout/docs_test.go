package layout

import (
	"os"
	"path/filepath"
	"testing"
)

// The tables of docs/architecture.md are those of the list and of the doc.go files.
// `make docs` writes them (TRIREME_DOCS=write).
func TestArchitectureTablesAreCurrent(t *testing.T) {
	path := filepath.Join(root, "docs", "architecture.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	packages, err := PackageTable(root, repository(t))
	if err != nil {
		t.Fatal(err)
	}
	want, err := Insert(string(text), "import table", ImportTable())
	if err == nil {
		want, err = Insert(want, "package table", packages)
	}
	if err != nil {
		t.Fatal(err)
	}
	if want == string(text) {
		return
	}
	if os.Getenv("TRIREME_DOCS") != "write" {
		t.Fatal("the tables in docs/architecture.md are out of date: run make docs")
	}
	if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}
