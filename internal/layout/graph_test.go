package layout

import (
	"slices"
	"strings"
)

// Graph has the imports of every package's product files, by folder.
type Graph map[string][]string

// Imports is the graph of files. Tests are left out.
func Imports(files []File) Graph {
	g := Graph{}
	for _, f := range files {
		if f.Test {
			continue
		}
		for _, folder := range f.Imports {
			if !slices.Contains(g[f.Folder], folder) {
				g[f.Folder] = append(g[f.Folder], folder)
			}
		}
	}
	return g
}

// Reach returns the shortest chain of imports from a folder to one that a pattern covers, as "a → b → c", or "" if there is none.
// What lies behind a folder (another one than from) is not looked at.
func (g Graph) Reach(from, pattern, behind string) string {
	chains := [][]string{{from}}
	seen := map[string]bool{from: true}
	for len(chains) > 0 {
		chain := chains[0]
		chains = chains[1:]
		last := chain[len(chain)-1]
		if last == behind && last != from {
			continue
		}
		for _, next := range g[last] {
			if seen[next] {
				continue
			}
			seen[next] = true
			longer := append(slices.Clone(chain), next)
			if covers(pattern, next) {
				return strings.Join(longer, " → ")
			}
			chains = append(chains, longer)
		}
	}
	return ""
}

// Upward reports whether an import goes to a folder whose rule stands above that of the importing one. Harnesses, programs
// of the Makefile and packages for tests may look at the product from anywhere.
func Upward(from, to string) bool {
	if harness(from) || strings.HasPrefix(from, "scripts/") || matches(Support, from) {
		return false
	}
	return place(to) < place(from)
}

// place is the position of a folder's rule in Rules, or behind all.
func place(folder string) int {
	rule := RuleOf(folder)
	for i := range Rules {
		if &Rules[i] == rule {
			return i
		}
	}
	return len(Rules)
}
