package fsm

import (
	"fmt"
	"io"

	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/rdb"
	"github.com/trireme-dev/trireme/fsm/script"
)

// Export writes the functions and the keys of a database as an RDB file of Redis, which names version as what made it.
// Keys past their deadline at the state's cluster time are left out. The errors are ErrNoDatabase, that of a document
// whose text would be too long, and that of w.
func (f *Frozen) Export(w io.Writer, name string, target rdb.Target, version string) (rdb.Written, error) {
	d := f.s.database(name)
	if d == nil {
		return rdb.Written{}, ErrNoDatabase
	}
	out := rdb.NewFileWriter(w, target)
	out.Remark("redis-ver", command.RedisVersion) // tools ask which Redis to expect
	out.Remark("redis-bits", "64")
	out.Remark("trireme-ver", version)
	d.scripts.Libraries(func(l *script.Library) { out.Function(l.Code) })
	out.Database(0, uint64(d.keys.Len()), uint64(d.keys.Deadlines()))
	var failed error
	d.keys.All(&env.Env{Time: f.s.time(), ReadOnly: true, Level: f.s.level}, func(key string, o *keyspace.Object) bool {
		failed = out.Key(key, o, f.s.time())
		return failed == nil
	})
	if failed == nil {
		failed = out.Close()
	}
	if failed != nil {
		return out.Written, fmt.Errorf("fsm: export database %s: %w", d.name, failed)
	}
	return out.Written, nil
}

// HasDatabase reports whether there is a database of that name.
func (f *Frozen) HasDatabase(name string) bool { return f.s.database(name) != nil }
