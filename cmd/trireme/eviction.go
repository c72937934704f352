package main

import (
	"fmt"
	"strings"

	"github.com/trireme-dev/trireme/fsm/keyspace"
)

// evictionPolicy is the value of --max-memory-policy.
type evictionPolicy keyspace.Policy

func (p *evictionPolicy) String() string { return keyspace.Policy(*p).String() }

func (p *evictionPolicy) Type() string { return "policy" }

// Set takes a policy by its name.
func (p *evictionPolicy) Set(text string) error {
	policy, ok := keyspace.ParsePolicy(strings.ToLower(text))
	if !ok {
		return fmt.Errorf("invalid policy %q: use one of %s", text, keyspace.PolicyNames)
	}
	*p = evictionPolicy(policy)
	return nil
}
