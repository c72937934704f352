package acl

import "strconv"

// What a user may have. A user that has more from a former version keeps it.
const (
	MaxRules     = 10_000 // patterns of keys and channels, rules about commands, and selectors, together
	MaxPasswords = 256
)

var (
	tooManyRules     = "A user can have at most " + strconv.Itoa(MaxRules) + " patterns, rules about commands and selectors. Use patterns that match more, or several users"
	tooManyPasswords = "A user can have at most " + strconv.Itoa(MaxPasswords) + " passwords. Remove one first"
)

// exceeds is the reason why rules have made the user too large, if they have.
func (u *User) exceeds() string {
	switch {
	case u.root.count()+u.inMore > MaxRules:
		return tooManyRules
	case len(u.credentials) > MaxPasswords:
		return tooManyPasswords
	}
	return ""
}

// count is the number of the selector's patterns and rules.
func (s *selector) count() int { return len(s.keys) + len(s.channels) + s.liveRules() }

// The logical memory of a user without its texts, in bytes.
const (
	credentialCost = 48
	selectorCost   = 384
	patternCost    = 64
	ruleCost       = 32
)

// footprint is the logical memory of the user in bytes. Of a builtin user only its texts count.
func (u *User) footprint() int64 {
	texts, more := int64(userCost+len(u.Name)+credentialCost*len(u.credentials)), int64(0)
	for i := range u.selectors() {
		s := u.selector(i)
		texts += int64(len(s.text()))
		if i > 0 {
			more += selectorCost
		}
		more += int64(patternCost*(len(s.keys)+len(s.channels)) + ruleCost*len(s.rules))
	}
	if u.Builtin() {
		return texts
	}
	return texts + more
}

// selectors is the number of the user's selectors.
func (u *User) selectors() int { return 1 + len(u.more) }

func (u *User) selector(i int) *selector {
	if i == 0 {
		return &u.root
	}
	return &u.more[i-1]
}

// bytesPerStep is the number of logical bytes of a user that are read or written in one step of work.
const bytesPerStep = 16

// Work is the work of reading all of the user, in steps.
func (u *User) Work() int64 {
	if u == nil {
		return 0
	}
	return u.size/bytesPerStep + 1
}

// Work is the work of reading all users, in steps.
func (s *Store) Work() int64 { return s.size/bytesPerStep + int64(s.Len()) }

// The price of a rule of SetUser in steps, in addition to one for each few bytes of its text: it is read, compared with
// those that are there, and applied to every command.
const (
	stepsPerRule = 12
	bytesPerRule = 4 // that stand for another rule within a selector, at least
)

// WorkOfRules returns the steps of a SetUser with so many words of so many bytes together.
func (s *Store) WorkOfRules(name string, words, bytes int) int64 {
	return stepsPerRule*int64(words+bytes/bytesPerRule/4) + int64(bytes/bytesPerRule) + stepsPerRule*s.User(name).rules() + s.User(name).Work()
}

func (u *User) rules() int64 {
	if u == nil {
		return 0
	}
	return int64(u.root.count() + u.inMore + len(u.credentials))
}

// CheckWork returns the most steps of checking a call with so many names of so many bytes: those of its keys and
// channels. It is 0 for users with few selectors and no patterns but names and prefixes.
func (u *User) CheckWork(names, bytes int) int64 {
	return (int64(names)*u.price.name + int64(bytes)*u.price.byte) / 64
}
