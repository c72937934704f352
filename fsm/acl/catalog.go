package acl

import (
	"strings"

	"github.com/trireme-dev/trireme/fsm/ascii"
)

// Category is a set of categories of commands, one bit each.
type Category uint32

// The categories, in Redis's order and then our own. They are bits of a binary and
// stand in no log; their names do, in the rules of users.
const (
	Keyspace Category = 1 << iota
	Read
	Write
	Set
	SortedSet
	List
	Hash
	String
	Bitmap
	HyperLogLog
	Geo
	Stream
	PubSub
	AdminCategory
	Fast
	Slow
	Blocking
	Dangerous
	Connection
	Transaction
	Scripting
	JSON
	MessagesCategory
	// ReadOnlyCategory holds the commands that the read-only token permits.
	ReadOnlyCategory
)

var categoryNames = []string{
	"keyspace", "read", "write", "set", "sortedset", "list", "hash", "string", "bitmap", "hyperloglog", "geo", "stream",
	"pubsub", "admin", "fast", "slow", "blocking", "dangerous", "connection", "transaction", "scripting", "json", "messages",
	"readonly",
}

// CategoryNames are the names of all categories.
func CategoryNames() []string { return categoryNames }

// CategoryNamed is the category of a name, in any case; 0 if there is none.
func CategoryNamed(name string) Category {
	for i, n := range categoryNames {
		if ascii.EqualFold(n, name) {
			return 1 << i
		}
	}
	return 0
}

// Command is a command as rules see it.
type Command struct {
	// Name in lower case; a subcommand is "config|get".
	Name       string
	Categories Category
}

// Catalog is the commands of a binary, each by its number. It never changes.
type Catalog struct {
	commands []Command
	numbers  map[string]int
	parents  map[string][]int // the subcommands of a container
	builtins [2]*User         // what the built-in users of every database begin as
}

// NewCatalog numbers commands in the order given.
func NewCatalog(commands []Command) *Catalog {
	c := &Catalog{commands: commands, numbers: map[string]int{}, parents: map[string][]int{}}
	for i, one := range commands {
		c.numbers[one.Name] = i
		if head, _, sub := strings.Cut(one.Name, "|"); sub {
			c.parents[head] = append(c.parents[head], i)
		}
	}
	c.builtins = newBuiltins(c)
	return c
}

// named are the numbers of the commands that name stands for: a command, a subcommand,
// or a container with all its subcommands.
func (c *Catalog) named(name string) []int {
	if i, ok := c.numbers[name]; ok {
		return append([]int{i}, c.parents[name]...)
	}
	return c.parents[name]
}

// In lists the names of the commands that are in a category.
func (c *Catalog) In(category Category) (names []string) {
	for i := range c.commands {
		if c.commands[i].Categories&category != 0 {
			names = append(names, c.commands[i].Name)
		}
	}
	return names
}

// bits is a set of command numbers.
type bits []uint64

func (c *Catalog) none() bits { return make(bits, (len(c.commands)+63)/64) }

func (b bits) has(i int) bool { return b[i/64]&(1<<(i%64)) != 0 }

func (b bits) set(i int, on bool) {
	if on {
		b[i/64] |= 1 << (i % 64)
	} else {
		b[i/64] &^= 1 << (i % 64)
	}
}
