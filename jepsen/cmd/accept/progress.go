package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// progress is the file of finished rounds of one line. Rounds of other code do
// not count, so it names the code they ran on.
type progress struct {
	path   string
	Code   string                       `json:"code"`
	Rounds map[string][]json.RawMessage `json:"rounds"` // by experiment
}

// openProgress reads the file, or begins a new one if it is missing, of other
// code, or not wanted.
func openProgress(path, code string, fresh bool) (*progress, error) {
	empty := &progress{path: path, Code: code, Rounds: map[string][]json.RawMessage{}}
	text, err := os.ReadFile(path)
	if fresh || errors.Is(err, os.ErrNotExist) {
		return empty, nil
	}
	if err != nil {
		return nil, fmt.Errorf("progress: %w", err)
	}
	p := &progress{path: path}
	if err := json.Unmarshal(text, p); err != nil {
		return nil, fmt.Errorf("progress %s: %w", path, err)
	}
	if p.Code != code || p.Rounds == nil {
		return empty, nil
	}
	return p, nil
}

// resumed counts the rounds that need not be run again.
func (p *progress) resumed() int {
	n := 0
	for _, rounds := range p.Rounds {
		n += len(rounds)
	}
	return n
}

// add stores one finished round.
func (p *progress) add(experiment string, round any) error {
	text, err := json.Marshal(round)
	if err != nil {
		return fmt.Errorf("progress: %w", err)
	}
	p.Rounds[experiment] = append(p.Rounds[experiment], text)
	all, err := json.MarshalIndent(p, "", " ")
	if err != nil {
		return fmt.Errorf("progress: %w", err)
	}
	if err := os.WriteFile(p.path+".new", all, 0o644); err != nil {
		return fmt.Errorf("progress: %w", err)
	}
	return os.Rename(p.path+".new", p.path)
}

// repeat performs the rounds of an experiment that are not finished yet and
// returns the results of all.
func repeat[T any](p *progress, experiment string, rounds int, perform func(i int) (T, error)) ([]T, error) {
	var all []T
	for _, text := range p.Rounds[experiment] {
		var result T
		if err := json.Unmarshal(text, &result); err != nil {
			return nil, fmt.Errorf("progress of %s: %w", experiment, err)
		}
		all = append(all, result)
	}
	for i := len(all); i < rounds; i++ {
		result, err := perform(i)
		if err != nil {
			return all, fmt.Errorf("%s, round %d: %w", experiment, i+1, err)
		}
		if err := p.add(experiment, result); err != nil {
			return all, err
		}
		all = append(all, result)
	}
	return all, nil
}

// identity names the code: the commit and what was changed since.
func (s *session) identity() string {
	head := exec.Command("git", "rev-parse", "HEAD")
	head.Dir = s.root
	commit, err := head.Output()
	if err != nil {
		return "unknown"
	}
	diff := exec.Command("sh", "-c", "git diff HEAD | git hash-object --stdin")
	diff.Dir = s.root
	changed, err := diff.Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(commit)) + "+" + strings.TrimSpace(string(changed))
}
