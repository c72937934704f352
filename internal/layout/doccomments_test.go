package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A doc comment begins with the name of what it documents, as go doc expects it. One that begins with another name is
// mostly of a name that was changed, and tells a reader of something that does not exist.
func TestDocCommentsNameWhatTheyDocument(t *testing.T) {
	for _, f := range repository(t) {
		if f.Test {
			continue
		}
		set := token.NewFileSet()
		parsed, err := parser.ParseFile(set, filepath.Join(root, f.Path), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, wrong := range misnamed(parsed) {
			at := set.Position(wrong.Pos())
			t.Errorf("%s:%d: the comment of %s begins %q: begin with the name", f.Path, at.Line, wrong.name, first(wrong.CommentGroup, 4))
		}
	}
}

// misnamedComment is a comment that begins with another name than that of what it documents.
type misnamedComment struct {
	name string
	*ast.CommentGroup
}

// misnamed returns the comments of a file that begin with a wrong name. Those of functions and types begin with the name.
// Those of fields, constants and variables may say something else of the lines below, so they are wrong only if they begin as a
// sentence about a name does.
func misnamed(file *ast.File) (all []misnamedComment) {
	check := func(names []string, doc *ast.CommentGroup, strict bool) {
		if doc == nil || strings.TrimSpace(doc.Text()) == "" {
			return
		}
		words := strings.Fields(first(doc, 3))
		if slices.Contains([]string{"A", "An", "The", "Package"}, words[0]) && len(words) > 1 {
			words = words[1:]
		}
		word := strings.TrimSuffix(strings.TrimRight(words[0], ".,:"), "'s")
		if slices.Contains(names, word) || !strict && !aboutName(words) {
			return
		}
		all = append(all, misnamedComment{names[0], doc})
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			check([]string{d.Name.Name}, d.Doc, true)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				checkSpec(d, s, check)
			}
		}
	}
	return all
}

func checkSpec(d *ast.GenDecl, s ast.Spec, check func(names []string, doc *ast.CommentGroup, strict bool)) {
	docOf := func(own *ast.CommentGroup) *ast.CommentGroup {
		if own == nil && len(d.Specs) == 1 {
			return d.Doc
		}
		return own
	}
	switch s := s.(type) {
	case *ast.ValueSpec:
		check(namesOf(s.Names), docOf(s.Doc), false)
	case *ast.TypeSpec:
		check([]string{s.Name.Name}, docOf(s.Doc), true)
		if st, ok := s.Type.(*ast.StructType); ok {
			for _, field := range st.Fields.List {
				if len(field.Names) > 0 {
					check(namesOf(field.Names), field.Doc, false)
				}
			}
		}
	}
}

var (
	mixedCase = regexp.MustCompile(`^[A-Za-z]+[a-z][A-Z]\w*$`)
	predicate = regexp.MustCompile(`^(is|are|has|have|says|holds|names|counts|returns|reports|sets|keeps)$`)
	pronoun   = regexp.MustCompile(`^(It|They|This|That|These|Those|There|What|Who|Nothing|Each|Both|Zero|Here)$`)
)

// aboutName reports whether a comment begins with what can only be a name: a word in mixed case, or one word and a predicate.
func aboutName(words []string) bool {
	return mixedCase.MatchString(words[0]) || len(words) > 1 && predicate.MatchString(words[1]) && !pronoun.MatchString(words[0])
}

func namesOf(idents []*ast.Ident) (names []string) {
	for _, i := range idents {
		names = append(names, i.Name)
	}
	return names
}

// first returns the first n words of a comment.
func first(doc *ast.CommentGroup, n int) string {
	words := strings.Fields(doc.Text())
	return strings.Join(words[:min(n, len(words))], " ")
}

func TestMisnamed(t *testing.T) {
	for src, want := range map[string]int{
		"// one reads.\nfunc serveOne() {}":                                        1,
		"// serveOne reads.\nfunc serveOne() {}":                                   0,
		"// serveOne, with serveTwo, reads.\nfunc serveOne() {}":                   0,
		"// State is.\ntype state int":                                             1,
		"// A State is.\ntype State int":                                           0,
		"type t struct {\n// Flows are the runs.\nWorkflows int\n}":                1,
		"type t struct {\n// Workflows are the runs.\nWorkflows int\n}":            0,
		"type t struct {\n// KeepSendersFree keeps.\nSpare int\n}":                 1,
		"type t struct {\n// Under the lock.\na, b int\n}":                         0,
		"// Words that rows share.\nconst a = 1":                                   0,
		"const (\n// maxLines: of a file.\nmaxLines = 1\n// mostLines is.\nm = 2)": 1,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\n"+src, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(misnamed(file)); got != want {
			t.Errorf("%s\n%d comments with a wrong name, want %d", src, got, want)
		}
	}
}
