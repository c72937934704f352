package main

import (
	"strings"
	"testing"
)

// TestTopicsHaveEveryCommand: each command is under a topic, and each name of a topic is a command.
func TestTopicsHaveEveryCommand(t *testing.T) {
	root, known := newRoot(), map[string]bool{}
	for _, cmd := range root.Commands() {
		known[cmd.Name()] = true
		if cmd.GroupID == "" || cmd.Hidden {
			t.Errorf("%s is under no topic of --help", cmd.Name())
		}
	}
	for _, topic := range topics {
		for name := range strings.FieldsSeq(topic.commands) {
			if !known[name] {
				t.Errorf("%s has %s, which is no command", topic.title, name)
			}
		}
	}
}
