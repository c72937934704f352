package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/trireme-dev/trireme/fsm/command"
)

func main() {
	folder := filepath.Join("docs", "commands")
	if len(os.Args) > 1 {
		folder = os.Args[1]
	}
	if err := write(folder, render(command.NewTable().Rows())); err != nil {
		fmt.Fprintln(os.Stderr, "commanddocs:", err)
		os.Exit(1)
	}
}

// write replaces the pages in folder; pages of families that are gone are removed.
func write(folder string, pages map[string]string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("making the folder: %w", err)
	}
	old, err := filepath.Glob(filepath.Join(folder, "*.md"))
	if err != nil {
		return err
	}
	for _, path := range old {
		if _, still := pages[filepath.Base(path)]; !still {
			if err := os.Remove(path); err != nil {
				return fmt.Errorf("removing an old page: %w", err)
			}
		}
	}
	for name, text := range pages {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			return fmt.Errorf("writing a page: %w", err)
		}
	}
	return nil
}
