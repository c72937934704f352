// Package layout holds the import rules of the repository and checks them.
//
// Rules is the one list: which folder is for what, and what it may import. The tests read every Go file, whatever its build tags,
// and fail on an import that no rule allows, on a folder without a rule and on a package without a doc.go. They also hold the
// tables in docs/architecture.md against the list and against the first sentence of each package's doc.go; `make docs` writes
// these tables.
//
// Further tests hold the documents: links and names lead to what exists, figures equal the constants beside them, the walks of
// docs/architecture.md follow the code, claims of docs/security.md and docs/tenancy.md have tests, design pages have no reports of
// measurements, and the changelog has short entries about what users see.
//
// scripts/sizes imports this package for Measure; nothing else does.
package layout
