package acl

import (
	"slices"
	"strings"
)

// Access is a set of rights to a key: to read it, to write it, or both.
type Access uint8

// The accesses.
const (
	ReadKey Access = 1 << iota
	WriteKey
)

// keyPattern opens the keys that match to some accesses.
type keyPattern struct {
	pattern string
	access  Access
}

// text is the pattern as a rule.
func (kp keyPattern) text() string {
	switch kp.access {
	case ReadKey:
		return "%R~" + kp.pattern
	case WriteKey:
		return "%W~" + kp.pattern
	}
	return "~" + kp.pattern
}

// selector is one set of rules: a command is open if one selector of its user opens it
// with all its keys and channels.
type selector struct {
	all         bool     // the rules start from every command, not from none
	rules       []string // "+@read", "-get": each changes what those before it have left
	allKeys     bool
	keys        []keyPattern
	allChannels bool
	channels    []string

	open     bits // what the rules come to in this binary
	openBase bits // and before it
	// keySets and channelSet are keys and channels to look up, readsAll says that a pattern opens reading of every key.
	keySets    *keySets
	channelSet *channelSet
	readsAll   bool

	draft *draft // while rules are applied
}

// apply applies one rule about commands to a set.
func (c *Catalog) apply(open bits, rule string) {
	on := rule[0] == '+'
	if category, ok := strings.CutPrefix(rule[1:], "@"); ok {
		want := CategoryNamed(category)
		for i := range c.commands {
			if c.commands[i].Categories&want != 0 {
				open.set(i, on)
			}
		}
		return
	}
	for _, i := range c.named(rule[1:]) {
		open.set(i, on)
	}
}

// compile finds what the rules come to.
func (s *selector) compile(c *Catalog) {
	s.finish()
	s.keySets, s.channelSet = compileKeys(s.keys), compileChannels(s.channels)
	s.readsAll = slices.ContainsFunc(s.keys, func(k keyPattern) bool { return k.pattern == "*" && k.access&ReadKey != 0 })
	s.open = c.opened(s)
}

// opened is the set of commands that the rules open.
func (c *Catalog) opened(s *selector) bits {
	open := c.none()
	if s.all {
		for i := range c.commands {
			open.set(i, true)
		}
	}
	for _, rule := range s.rules {
		c.apply(open, rule)
	}
	return open
}

// opens reports whether the rules open a command.
func (s *selector) opens(command int) bool { return s.open.has(command) }

// allowsKey reports whether every access to the key is open.
func (s *selector) allowsKey(key string, access Access) bool {
	return s.allKeys || s.keySets.any(access, func(set *patternSet) bool { return set.matches(key) })
}

// readsAllKeys reports whether reading is open for every key.
func (s *selector) readsAllKeys() bool { return s.allKeys || s.readsAll }

// readsPrefix reports whether reading is open for every key that begins with prefix: by a pattern that is a beginning of
// it and a star. Other patterns that come to the same are not looked for.
func (s *selector) readsPrefix(prefix string) bool {
	return s.allKeys || s.keySets.any(ReadKey, func(set *patternSet) bool { return set.hasPrefix(prefix) })
}

// allowsChannel reports whether the channel is open. A pattern to subscribe to must be
// one of the user's own patterns, letter for letter.
func (s *selector) allowsChannel(name string, pattern bool) bool {
	if s.allChannels || s.channelSet == nil {
		return s.allChannels
	}
	if _, found := slices.BinarySearch(s.channelSet.names, name); found {
		return true
	}
	return !pattern && s.channelSet.patterns.matches(name)
}

// keyTexts are the key patterns as rules.
func (s *selector) keyTexts() []string {
	if s.allKeys {
		return []string{"~*"}
	}
	var list []string
	for _, k := range s.keys {
		list = append(list, k.text())
	}
	return list
}

// channelTexts are the channel patterns as rules.
func (s *selector) channelTexts() []string {
	if s.allChannels {
		return []string{"&*"}
	}
	var list []string
	for _, p := range s.channels {
		list = append(list, "&"+p)
	}
	return list
}

// commandText is the rules about commands.
func (s *selector) commandText() string {
	base := "-@all"
	if s.all {
		base = "+@all"
	}
	return strings.Join(append([]string{base}, s.rules...), " ")
}

// text is the whole selector as rules, as ACL LIST shows it.
func (s *selector) text() string {
	list := s.keyTexts()
	if !s.allChannels {
		list = append(list, "resetchannels")
	}
	list = append(list, s.channelTexts()...)
	return strings.Join(append(list, s.commandText()), " ")
}

func (s *selector) clone() selector {
	c := *s
	c.draft = nil
	c.rules = append([]string(nil), s.rules...)
	c.keys = append([]keyPattern(nil), s.keys...)
	c.channels = append([]string(nil), s.channels...)
	return c
}
