package acl

import "slices"

// draft finds what a selector has already, while rules are applied to it. Without it each rule would be compared with all
// before it.
type draft struct {
	keys     map[string]int // places in selector.keys
	channels map[string]bool
	rules    map[string]int // places in selector.rules, by what they are about
	dead     int            // rules that others have replaced: their places are empty
}

// edit returns the draft of the selector.
func (s *selector) edit() *draft {
	if s.draft != nil {
		return s.draft
	}
	d := &draft{keys: make(map[string]int, len(s.keys)), channels: make(map[string]bool, len(s.channels))}
	for i, k := range s.keys {
		d.keys[k.pattern] = i
	}
	for _, c := range s.channels {
		d.channels[c] = true
	}
	d.setRules(s.rules)
	s.draft = d
	return d
}

func (d *draft) setRules(rules []string) {
	d.rules, d.dead = make(map[string]int, len(rules)), 0
	for i, r := range rules {
		d.rules[r[1:]] = i
	}
}

// finish ends the draft.
func (s *selector) finish() {
	s.compact()
	s.draft = nil
}

// compact takes out what others have replaced.
func (s *selector) compact() {
	if s.draft != nil && s.draft.dead > 0 {
		s.rules = slices.DeleteFunc(s.rules, func(r string) bool { return r == "" })
		s.draft.setRules(s.rules)
	}
}

func (s *selector) setKeys(all bool) {
	if s.allKeys, s.keys = all, nil; s.draft != nil {
		s.draft.keys = map[string]int{}
	}
}

func (s *selector) setChannels(all bool) {
	if s.allChannels, s.channels = all, nil; s.draft != nil {
		s.draft.channels = map[string]bool{}
	}
}

func (s *selector) setCommands(all bool) {
	if s.all, s.rules = all, nil; s.draft != nil {
		s.draft.setRules(nil)
	}
}

func (s *selector) liveRules() int {
	if s.draft != nil {
		return len(s.rules) - s.draft.dead
	}
	return len(s.rules)
}

func (s *selector) putKey(k keyPattern) {
	d := s.edit()
	if i, found := d.keys[k.pattern]; found {
		s.keys[i].access |= k.access
		return
	}
	d.keys[k.pattern] = len(s.keys)
	s.keys = append(s.keys, k)
}

func (s *selector) putChannel(pattern string) {
	if d := s.edit(); !d.channels[pattern] {
		d.channels[pattern] = true
		s.channels = append(s.channels, pattern)
	}
}

// addRule adds a rule about commands; it replaces those that it overrides.
func (c *Catalog) addRule(s *selector, rule string) {
	d := s.edit()
	drop := func(about string) {
		if i, found := d.rules[about]; found {
			s.rules[i] = ""
			d.dead++
			delete(d.rules, about)
		}
	}
	drop(rule[1:])
	for _, i := range c.parents[rule[1:]] {
		drop(c.commands[i].Name)
	}
	d.rules[rule[1:]] = len(s.rules)
	s.rules = append(s.rules, rule)
	if d.dead > len(s.rules)/2 { // so that the list stays in proportion to what is in force
		s.compact()
	}
}
