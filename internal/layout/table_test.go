package layout

import (
	"cmp"
	"fmt"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ImportTable renders Rules as a Markdown table.
func ImportTable() string {
	var b strings.Builder
	b.WriteString("| folder | what it is for | may import | never reaches |\n|---|---|---|---|\n")
	for _, r := range Rules {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", r.Folder, r.Use, cmp.Or(names(r.May), "nothing"), names(r.Never))
	}
	return b.String()
}

func names(folders []string) string {
	quoted := make([]string, len(folders))
	for i, f := range folders {
		quoted[i] = "`" + f + "`"
	}
	return strings.Join(quoted, ", ")
}

// PackageTable renders every package of files with the first sentence of its doc.go.
func PackageTable(root string, files []File) (string, error) {
	var folders []string
	for _, f := range files {
		if !f.Test {
			folders = append(folders, f.Folder)
		}
	}
	slices.Sort(folders)
	var b strings.Builder
	b.WriteString("| package | what it is |\n|---|---|\n")
	for _, folder := range slices.Compact(folders) {
		synopsis, err := synopsis(filepath.Join(root, folder, "doc.go"))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", folder, synopsis)
	}
	return b.String(), nil
}

// synopsis returns the first sentence of a package's comment without "Package x" or
// "Command x", or "" if the file does not exist.
func synopsis(path string) (string, error) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.PackageClauseOnly)
	if os.IsNotExist(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	text := new(doc.Package).Synopsis(file.Doc.Text())
	for _, word := range []string{"Package ", "Command "} {
		if rest, ok := strings.CutPrefix(text, word); ok {
			_, text, _ = strings.Cut(rest, " ")
		}
	}
	return strings.ReplaceAll(strings.TrimSuffix(text, ":"), "|", `\|`), nil
}

// Insert replaces what is between "<!-- name -->" and "<!-- end name -->" in text.
func Insert(text, name, content string) (string, error) {
	begin, end := "<!-- "+name+" -->\n", "<!-- end "+name+" -->"
	before, rest, ok := strings.Cut(text, begin)
	_, after, found := strings.Cut(rest, end)
	if !ok || !found {
		return "", fmt.Errorf("the marks %q and %q are missing", strings.TrimSpace(begin), end)
	}
	return before + begin + "\n" + content + "\n" + end + after, nil
}
