package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
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

// sbom writes the linked modules as an SPDX document.
func (r *release) sbom(modules []module) error {
	text, err := spdx(modules, r.version, r.commit, r.when)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, "trireme_"+r.version+".spdx.json"), text, 0o644)
}

// spdx makes the document of the modules. Go's standard library, which has no version, is not in it.
func spdx(modules []module, version, commit string, when time.Time) ([]byte, error) {
	list := []spdxPackage{{
		ID: "SPDXRef-trireme", Name: "trireme", Version: version, Location: "git+https://github.com/trireme-dev/trireme@" + commit,
		Licence: "Apache-2.0", Declared: "Apache-2.0", Rights: "Copyright 2026 The Trireme authors",
	}}
	relations := []any{relation("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-trireme")}
	for _, m := range modules {
		if m.Version == "" {
			continue
		}
		id := fmt.Sprintf("SPDXRef-module-%d", len(list))
		list = append(list, spdxPackage{
			ID: id, Name: m.Path, Version: m.Version, Location: "https://proxy.golang.org/" + escaped(m.Path) + "/@v/" + escaped(m.Version) + ".zip",
			Licence: m.licence, Declared: m.licence, Rights: "NOASSERTION",
			Refs: []any{map[string]string{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": "pkg:golang/" + m.Path + "@" + m.Version}},
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
