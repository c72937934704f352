package main

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/internal/layout"
)

func main() {
	root := "."
	if len(os.Args) > 1 {
		root = os.Args[1]
	}
	if err := report(os.Stdout, root); err != nil {
		fmt.Fprintln(os.Stderr, "sizes:", err)
		os.Exit(1)
	}
}

func report(w io.Writer, root string) error {
	files, err := layout.Files(root)
	if err != nil {
		return err
	}
	lines := map[layout.Kind]int{}
	for kind, name := range []string{"product", "tests", "tools"} {
		ofFiles, ofFunctions, err := layout.Measure(root, files, layout.Kind(kind))
		if err != nil {
			return err
		}
		lines[layout.Kind(kind)] = ofFiles.Sum()
		fmt.Fprintf(w, "%-8s %6d lines\n", name, ofFiles.Sum())
		show(w, "files", ofFiles)
		show(w, "functions", ofFunctions)
	}
	scripts, err := scriptLines(root)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%-8s %6d lines, of commands with their replies and of programs with other clients\n", "scripts", scripts)
	if product := float64(lines[layout.Product]); product > 0 {
		fmt.Fprintf(w, "tests : product = %.2f, with scripts %.2f\n",
			float64(lines[layout.Tests])/product, float64(lines[layout.Tests]+scripts)/product)
	}
	return nil
}

// scriptLines counts the lines of tests that are not written in Go: scripts of commands and of
// the command line (testdata), and JavaScript programs.
func scriptLines(root string) (lines int, err error) {
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); name == "node_modules" || name == "bin" || path != root && strings.HasPrefix(name, ".") {
				return fs.SkipDir
			}
			return nil
		}
		inTestdata := slices.Contains(strings.Split(filepath.ToSlash(path), "/"), "testdata")
		switch ext := filepath.Ext(path); {
		case ext == ".mjs" && d.Name() != "build.mjs", inTestdata && (ext == ".txt" || ext == ".txtar"):
			text, err := os.ReadFile(path)
			lines += bytes.Count(text, []byte("\n"))
			return err
		}
		return nil
	})
	return lines, err
}

func show(w io.Writer, what string, s layout.Sizes) {
	if len(s) == 0 {
		return
	}
	largest := s[len(s)-1]
	fmt.Fprintf(w, "  %6d %-9s  median %3d  p90 %3d  largest %4d  %s\n",
		len(s), what, s.Percentile(50).Lines, s.Percentile(90).Lines, largest.Lines, largest.Name)
}
