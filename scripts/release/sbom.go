package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// spdxPackage is a package of an SPDX 2.3 document.
type spdxPackage struct {
	ID       string `json:"SPDXID"`
	Name     string `json:"name"`
	Version  string `json:"versionInfo"`
	Location string `json:"downloadLocation"`
	Analyzed bool   `json:"filesAnalyzed"`
	Licence  string `json:"licenseConcluded"`
	Declared string `json:"licenseDeclared"`
	Rights   string `json:"copyrightText"`
	Refs     []any  `json:"externalRefs,omitempty"`
}

// sbom writes the linked modules as an SPDX document. NOTICE has their licences.
func (r *release) sbom() error {
	notice, err := os.ReadFile(filepath.Join(r.root, "NOTICE"))
	if err != nil {
		return err
	}
	cmd := exec.Command("go", "list", "-m", "-f", "{{if not .Main}}{{.Path}} {{.Version}}{{end}}", "all")
	cmd.Dir = r.root
	known, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("go list -m: %w", err)
	}
	text, err := spdx(string(notice), string(known), r.version, r.commit, r.when)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, "trireme_"+r.version+".spdx.json"), text, 0o644)
}

// spdx makes the document of the modules that NOTICE lists and known has in the version there.
func spdx(notice, known, version, commit string, when time.Time) ([]byte, error) {
	list := []spdxPackage{{
		ID: "SPDXRef-trireme", Name: "trireme", Version: version, Location: "git+https://github.com/trireme-dev/trireme@" + commit,
		Licence: "Apache-2.0", Declared: "Apache-2.0", Rights: "Copyright 2026 The Trireme authors",
	}}
	relations := []any{relation("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-trireme")}
	modules := strings.Split(known, "\n")
	for line := range strings.SplitSeq(notice, "\n") {
		f := strings.Fields(line)
		if len(f) != 3 || !slices.Contains(modules, f[0]+" "+f[1]) {
			continue
		}
		id := fmt.Sprintf("SPDXRef-module-%d", len(list))
		list = append(list, spdxPackage{
			ID: id, Name: f[0], Version: f[1], Location: "https://proxy.golang.org/" + escaped(f[0]) + "/@v/" + escaped(f[1]) + ".zip",
			Licence: f[2], Declared: f[2], Rights: "NOASSERTION",
			Refs: []any{map[string]string{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": "pkg:golang/" + f[0] + "@" + f[1]}},
		})
		relations = append(relations, relation("SPDXRef-trireme", "DEPENDS_ON", id))
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetIndent("", " ")
	err := e.Encode(map[string]any{
		"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": "trireme-" + version,
		"documentNamespace": "https://github.com/trireme-dev/trireme/sbom/" + version + "-" + commit,
		"creationInfo":      map[string]any{"created": when.Format(time.RFC3339), "creators": []string{"Tool: scripts/release"}},
		"packages":          list, "relationships": relations,
	})
	return out.Bytes(), err
}

var upper = regexp.MustCompile(`[A-Z]`)

// escaped is a path or a version as the protocol of Go's module proxies writes it: an exclamation mark and the lower case for
// each capital.
func escaped(s string) string {
	return upper.ReplaceAllStringFunc(s, func(c string) string { return "!" + strings.ToLower(c) })
}

func relation(from, kind, to string) any {
	return map[string]string{"spdxElementId": from, "relationshipType": kind, "relatedSpdxElement": to}
}
