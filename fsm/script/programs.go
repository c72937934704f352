package script

import "github.com/trireme-dev/trireme/fsm/script/lua"

// maxPrograms is about how many bytes the compiled programs take that an engine keeps. The scripts of one database that may
// be called as known ones (Store.Known) are fewer: such a database finds all of its own.
const maxPrograms = 96 << 20

// programKey identifies a compiled program.
type programKey struct {
	source, body string
}

// programs keeps compiled programs: those used last, in two generations. When the younger one is full it becomes the older
// one, and what that had is dropped.
type programs struct {
	young, old map[programKey]*lua.Proto
	size       int // of the young ones
}

func (pr *programs) get(key programKey) *lua.Proto {
	p := pr.young[key]
	if p == nil {
		if p = pr.old[key]; p != nil {
			delete(pr.old, key)
			pr.put(key, p)
		}
	}
	return p
}

func (pr *programs) put(key programKey, p *lua.Proto) {
	if pr.size += p.Size(); pr.size > maxPrograms/2 || pr.young == nil {
		pr.old, pr.young, pr.size = pr.young, map[programKey]*lua.Proto{}, p.Size()
	}
	pr.young[key] = p
}
