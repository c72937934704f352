package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// self is this program as a child; it dies with its parent.
func self(args ...string) *exec.Cmd {
	c := exec.Command(os.Args[0], args...)
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return c
}

// traced is a child under strace, with faults injected into its system calls.
func traced(calls, inject string, args ...string) *exec.Cmd {
	argv := append([]string{"-f", "-qq", "-o", os.DevNull, "-e", "trace=" + calls, "-e", "inject=" + calls + ":" + inject, os.Args[0]}, args...)
	c := exec.Command("strace", argv...)
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return c
}

func needStrace() error {
	out, err := exec.Command("strace", "-qq", "-o", os.DevNull, "true").CombinedOutput()
	if err != nil {
		return fmt.Errorf("strace does not work here: %w %s", err, bytes.TrimSpace(out))
	}
	return nil
}

// follow starts a writer and feeds its journal to the model until it ends.
func follow(c *exec.Cmd, m *model, onLine func(string)) {
	out, err := c.StdoutPipe()
	must(err)
	must(c.Start())
	m.read(out, onLine)
	c.Wait() // the exit code is in the journal
}

// build makes a node and stops it in good order.
func (r *rig) build(dir string, ops int, more ...string) *model {
	m := newModel()
	args := append([]string{"child-write", "-dir", dir, "-ops", fmt.Sprint(ops), "-seed", fmt.Sprint(r.rng.Int63())}, more...)
	follow(self(args...), m, nil)
	if m.end != "Z" {
		must(fmt.Errorf("the writer did not end in order: %q", m.end))
	}
	return m
}

// judge looks at a node and compares it with the model.
func (r *rig) judge(m *model, dir, profile string) (verdict, string, *observation) {
	s, trouble := r.look(dir, profile)
	if trouble != "" {
		return died, trouble, nil
	}
	v, detail := m.judge(s)
	return v, detail, s
}

// look opens a node in a process of its own, or in this one, where a crash that
// cannot be recovered from ends the whole run.
func (r *rig) look(dir, profile string) (*observation, string) {
	if !r.children {
		return look(dir, profile), ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, os.Args[0], "child-look", "-dir", dir, "-profile", profile)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	var s observation
	if jerr := json.Unmarshal(out.Bytes(), &s); jerr == nil && err == nil {
		return &s, ""
	}
	said, _, _ := strings.Cut(errs.String(), "\n")
	return nil, fmt.Sprintf("%v: %s", err, said)
}

// goesOn says whether a restarted writer gets anywhere.
func (r *rig) goesOn(dir string) bool {
	for range 2 {
		m := newModel()
		follow(self("child-write", "-dir", dir, "-ops", "10", "-seed", "99"), m, nil)
		if m.end == "Z" {
			return true
		}
	}
	return false
}

func copyNode(from, to string) {
	must(os.RemoveAll(to))
	must(os.CopyFS(to, os.DirFS(from)))
}
