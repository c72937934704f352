package command

import (
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/fsm/script"
)

// keySet holds the keys that a script has declared; nil if it may use others too.
type keySet map[string]bool

// lockedTo returns the set of the keys if the script locks them.
func (tx *Tx) lockedTo(locks bool, keys [][]byte) keySet {
	if !locks {
		return nil
	}
	s := make(keySet, len(keys))
	for _, key := range keys {
		s[string(key)] = true
	}
	return s
}

// refuse says which key of a call was not declared; nil if there is none. Commands that name no key, such as KEYS and
// FLUSHDB, are not refused.
func (s keySet) refuse(c *Command, argv [][]byte) *reply.Value {
	if s == nil {
		return nil
	}
	for i, at := range c.Keys.Positions(argv) {
		if c.doesWith(argv, i) == notKey {
			continue
		}
		if refusal := s.refuseKey(argv[at]); refusal != nil {
			return refusal
		}
	}
	return nil
}

// refuseKey returns the refusal of a key that was not declared.
func (s keySet) refuseKey(key []byte) *reply.Value {
	if s == nil || s[string(key)] {
		return nil
	}
	return ptr(reply.Error(script.DynamicKey + clean(string(key))))
}

// declaredKeys are those of the script that runs.
func (tx *Tx) declaredKeys() keySet {
	if tx.run == nil {
		return nil
	}
	return tx.run.declared
}
