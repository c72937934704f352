package fsm

import (
	"slices"

	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/cow"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/script"
	"github.com/trireme-dev/trireme/fsm/search"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

// A state has many databases, and most of them are idle: what an entry or a fork costs must not grow with their number. So a
// fork copies none of them. Whoever changes a database opens it first, which copies it if a fork has it too, and when the request
// is over, the sums and the summaries of the databases that it has opened are brought up to date. Nothing but open and
// openWork returns a database that may be changed. See docs/design/databases.md.

// directory is the databases of a state.
type directory struct {
	databases  *cow.Summed[place, summary]
	home       *database   // the one named default, which is always there
	changing   []*database // those that the request that is being applied has opened
	generation *generation // nil in a fork, which is never changed
	sums       sums        // of all databases, as settle has found them
	logins     tokenIndex
	blank      *blank
	saves      uint64 // counts the snapshots of this node; not replicated
}

// generation marks what a state may change in place: the databases that it has opened since it was forked last.
type generation struct{ _ byte }

// blank are the stores that all databases share in which nothing was ever stored. They are never changed: opening a database
// copies them.
type blank struct {
	keys      *keyspace.DB
	scripts   *script.Store
	search    *search.Store
	messages  *queue.Store
	workflows *workflow.Store
}

func newBlank() *blank {
	return &blank{keyspace.New(), script.NewStore(), search.NewStore(), queue.New(), workflow.New()}
}

// raised is what is blank at a feature level, on which the settings of messages and runs depend.
func (b *blank) raised(to env.Level) *blank {
	r := *b
	r.messages, r.workflows = queue.New(), workflow.New()
	r.messages.Raise(to)
	r.workflows.Raise(to)
	return &r
}

func newDatabases() *cow.Summed[place, summary] { return cow.NewSummed[place]((*summary).join) }

// fork copies a database, its messages and runs only if this one may have changed them since generation g began.
func (d *database) fork(g *generation) *database {
	f := *d
	f.changing, f.generation = false, nil
	f.keys, f.users, f.scripts, f.search = d.keys.Fork(), d.users.Fork(), d.scripts.Fork(), d.search.Fork()
	if d.messages != nil && d.workGeneration == g {
		f.messages, f.workflows = d.messages.Fork(), d.workflows.Fork()
	}
	f.workGeneration = nil
	return &f
}

// open returns a database of the state as it may be changed until the request that is being applied is over.
func (s *State) open(d *database) *database {
	if s.generation == nil {
		panic("fsm: a fork is about to be changed")
	}
	if d.generation != s.generation {
		d = s.lookup(d.name) // it may have been opened since it was looked up
	}
	if d.generation != s.generation {
		d = d.fork(nil)
		d.generation = s.generation
		s.put(d)
	}
	if d.saves != s.saves {
		d.keys.MarkSaved()
		d.saves = s.saves
	}
	if !d.changing {
		d.changing = true
		s.changing = append(s.changing, d)
	}
	return d
}

// openWork is open for whoever changes messages or runs too.
func (s *State) openWork(d *database) *database {
	d = s.open(d)
	switch {
	case d.messages == nil:
		d.messages, d.workflows = s.newStores()
		d.messages.SetKeys(d.signing)
	case d.workGeneration != s.generation:
		d.messages, d.workflows = d.messages.Fork(), d.workflows.Fork()
	}
	d.workGeneration = s.generation
	return d
}

// put puts a database in its place, with the summary that it has.
func (s *State) put(d *database) {
	s.databases.Put(d.name, place{awake: d}, d.summary)
	if d.name == DefaultDB {
		s.home = d
	}
}

// settle brings the sums and the summaries of the databases that are open up to date.
func (s *State) settle() {
	for _, d := range s.changing {
		n := s.count(d)
		s.sums.add(&n, &d.counted)
		d.counted = n
		if d.users.Builtins() != d.indexed.Builtins() {
			s.index(d)
		}
		if now := s.summarize(d); now != d.summary {
			d.summary = now
			s.put(d)
		}
	}
}

// close ends the changes of the databases that are open.
func (s *State) close() {
	s.settle()
	for _, d := range s.changing {
		d.changing = false
	}
	clear(s.changing)
	s.changing = s.changing[:0]
}

// index enters the tokens of a database into the index of logins.
func (s *State) index(d *database) {
	var before []acl.Token
	if d.indexed != nil {
		before = d.indexed.Tokens()
	}
	s.logins.update(d.name, before, d.users.Tokens())
	d.indexed = d.users.Fork()
}

// forkDatabases gives f, a copy of s, databases of its own. Those that are open in the middle of a request stay those of s, since the
// request goes on with them.
func (s *State) forkDatabases(f *State) {
	was := s.generation
	f.databases, f.generation, f.changing, f.logins = s.databases.Snapshot(), nil, nil, s.logins.fork()
	s.generation = new(generation)
	for _, d := range s.changing {
		f.put(d.fork(was))
		d.generation = s.generation
		if d.workGeneration == was {
			d.workGeneration = s.generation
		}
	}
}

// changeAll calls f with every database, open. No other database may be open.
func (s *State) changeAll(f func(*database)) {
	for d := s.first(nil); d != nil; d = s.after(d, nil) {
		d = s.open(d)
		f(d)
		s.close()
	}
}

// remove takes a database, which is open, out of the state.
func (s *State) remove(d *database) {
	s.sums.add(&sums{}, &d.counted)
	s.logins.update(d.name, d.indexed.Tokens(), nil)
	s.databases.Delete(d.name)
	s.changing = slices.DeleteFunc(s.changing, func(o *database) bool { return o == d })
	d.changing = false
}

// first returns the first database, in the order of the names, whose summary is wanted, nil if there is none. The nil function wants
// all. Databases that are open are judged as they were when the request began, or as settle has found them.
func (s *State) first(want func(*summary) bool) *database {
	return s.from("", true, want)
}

// after is first for those behind a database.
func (s *State) after(d *database, want func(*summary) bool) *database {
	return s.from(d.name, false, want)
}

// queue returns the messages of a database for reading.
func (d *database) queue(b *blank) *queue.Store {
	if d.messages != nil {
		return d.messages
	}
	return b.messages.WithKeys(d.signing)
}

// runs returns the workflows of a database for reading.
func (d *database) runs(b *blank) *workflow.Store {
	if d.workflows != nil {
		return d.workflows
	}
	return b.workflows
}

// newUsers are the users that every database has, whose credentials are numbered from serial on.
func (s *State) newUsers(id, serial uint64) *acl.Store {
	users := acl.NewStore(s.applier.table.Catalog(), serial)
	users.SetKey(s.secret, id)
	return users
}

// settleLoaded finds the sums and summaries of databases that were read, and has those rest in which nothing was ever stored.
func (s *State) settleLoaded() {
	entered := s.logins.enter()
	for d := s.first(nil); d != nil; d = s.after(d, nil) {
		d.generation, d.workGeneration = nil, nil
		d.summary, d.counted = s.summarize(d), s.count(d)
		s.sums.add(&d.counted, &sums{})
		d.indexed = d.users.Fork()
		entered.add(d.name, d.indexed.Tokens())
		s.settleDown(d)
	}
	entered.done()
}

// resummarize finds all summaries anew, because settings have changed that they depend on.
func (s *State) resummarize() {
	for p, name, ok := s.databases.Next("", true, nil); ok; p, name, ok = s.databases.Next(name, false, nil) {
		d := s.at(p)
		d.summary = s.summarize(d)
		s.databases.Put(name, p, d.summary)
	}
}
