package cli

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"strings"
)

// pagerVariables are where the pager is taken from, the first that is set.
var pagerVariables = []string{"TRIREME_PAGER", "PAGER"}

// pagerCommand returns the words of the pager, none if there is to be none.
func pagerCommand() []string {
	for _, name := range pagerVariables {
		if value, set := os.LookupEnv(name); set {
			if words := strings.Fields(value); len(words) > 0 && words[0] != "cat" {
				return words
			}
			return nil
		}
	}
	if _, err := exec.LookPath("less"); err != nil {
		return nil
	}
	return []string{"less"}
}

// paged runs a command, and shows what it prints in a pager if that is longer than the terminal. Notes come after it.
func (s *session) paged(run func(*session) error) error {
	if !s.to.is || s.noPager {
		return run(s)
	}
	out := s.cmd.OutOrStdout()
	var printed, notes bytes.Buffer
	s.cmd.SetOut(&printed)
	s.notes, s.page = &notes, out
	err := run(s)
	s.cmd.SetOut(out)
	s.notes = nil
	if s.page == nil {
		return err
	}
	s.page = nil
	if bytes.Count(printed.Bytes(), []byte("\n")) < s.to.height || !s.throughPager(out, printed.Bytes()) {
		if _, failed := out.Write(printed.Bytes()); failed != nil && err == nil {
			err = failed
		}
	}
	if notes.Len() > 0 {
		_, _ = io.Copy(s.cmd.ErrOrStderr(), &notes) // for people only
	}
	return err
}

// unpage has a command print at once what it prints, without an end.
func (s *session) unpage() {
	if s.page != nil {
		s.cmd.SetOut(s.page)
		s.notes, s.page = nil, nil
	}
}

// throughPager shows a text in the pager, and reports whether there was one.
func (s *session) throughPager(out io.Writer, text []byte) bool {
	words := pagerCommand()
	if len(words) == 0 {
		return false
	}
	pager := exec.Command(words[0], words[1:]...)
	pager.Stdin, pager.Stdout, pager.Stderr = bytes.NewReader(text), out, s.cmd.ErrOrStderr()
	pager.Env = os.Environ()
	if os.Getenv("LESS") == "" {
		pager.Env = append(pager.Env, "LESS=FRX") // colours as they are; ends at once if all fits
	}
	if pager.Start() != nil {
		return false
	}
	_ = pager.Wait() // its reader may leave before the end
	return true
}
