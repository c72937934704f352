package fsm

import "testing"

// ofTheCluster are the operations that are of no database's share: nodes, their leader and the operator propose them. What a
// client of a database can have proposed belongs to that database (defineOwned), so that it pays for it, and what is
// made anew under its name is another.
var ofTheCluster = map[string]bool{
	"advance": true, "set level": true, "new term": true, "register": true, "bootstrap": true, "take digest": true, "report digest": true,
	"configure": true, "admit node": true, "remove node": true, "create database": true, "delete database": true, "reset tokens": true,
	"take quota": true, "subscribe": true, "forget subscribers": true, "stage backup": true, "restore backup": true, "finish": true,
	"renew": true, "end session": true, "reset": true, "rotate tokens": true, "end token overlap": true, "import messages": true,
	"evict": true, "configure database": true, "quarantine": true, "release from quarantine": true,
}

// TestEveryOperationHasAPayer has each operation belong to a database, or be named as the cluster's.
func TestEveryOperationHasAPayer(t *testing.T) {
	for code, o := range byCode {
		if o == nil || uint16(code) == Exec.Code || uint16(code) == InDatabase.Code { // which name their database
			continue
		}
		if _, ok := DatabaseOf(uint16(code), nil); ok == ofTheCluster[o.name()] {
			t.Errorf("operation %q: of a database's share: %v, of the cluster: %v", o.name(), ok, ofTheCluster[o.name()])
		}
	}
}
