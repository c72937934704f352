package mutant

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Fault is a fault of the product and what the product does then instead of what it should.
type Fault struct {
	Name, Means string
	Edits       []Edit
}

// Edit replaces the text Before, which a source file has exactly once, by After. File is relative to the module.
type Edit struct{ File, Before, After string }

// All lists the faults that the checkers have to find.
func All() []Fault {
	return slices.Concat(requests, times, messages, runs, commits, inline, versions, triggers, states, flowControl, snapshots, files, forms, histories, disks)
}

// Apply returns the changed sources by their files. It fails if the product no longer has the text that an edit replaces.
func (f *Fault) Apply(root string) (map[string]string, error) {
	changed := map[string]string{}
	for _, e := range f.Edits {
		text, known := changed[e.File]
		if !known {
			source, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(e.File)))
			if err != nil {
				return nil, fmt.Errorf("fault %s: %w", f.Name, err)
			}
			text = string(source)
		}
		if n := strings.Count(text, e.Before); n != 1 {
			return nil, fmt.Errorf("fault %s: %s has the text to replace %d times, want once; adapt the fault to the source:\n%s", f.Name, e.File, n, e.Before)
		}
		changed[e.File] = strings.Replace(text, e.Before, e.After, 1)
	}
	return changed, nil
}

// Overlay writes the changed sources to dir, and returns the file that go build -overlay takes. The folder has to stay
// until the build has ended.
func (f *Fault) Overlay(root, dir string) (string, error) {
	changed, err := f.Apply(root)
	if err != nil {
		return "", err
	}
	if dir, err = filepath.Abs(filepath.Join(dir, "overlay-"+f.Name)); err != nil {
		return "", fmt.Errorf("fault %s: %w", f.Name, err)
	}
	var overlay struct{ Replace map[string]string }
	overlay.Replace = map[string]string{}
	for file, text := range changed { // unordered: each is a file of its own
		to := filepath.Join(dir, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return "", fmt.Errorf("fault %s: %w", f.Name, err)
		}
		if err := os.WriteFile(to, []byte(text), 0o644); err != nil {
			return "", fmt.Errorf("fault %s: %w", f.Name, err)
		}
		overlay.Replace[filepath.Join(root, filepath.FromSlash(file))] = to
	}
	text, err := json.MarshalIndent(&overlay, "", "  ")
	if err != nil {
		return "", fmt.Errorf("fault %s: %w", f.Name, err)
	}
	to := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(to, text, 0o644); err != nil {
		return "", fmt.Errorf("fault %s: %w", f.Name, err)
	}
	return to, nil
}
