package poison

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/trireme-dev/trireme/cluster/membership"
	"github.com/trireme-dev/trireme/fsm"
)

const ordersFile = "quarantine.json"

// Orders holds the quarantine orders that this node knows, in the order in which it found them.
type Orders struct {
	dir  string
	list []fsm.QuarantineOrder
}

// ReadOrders reads those of a data directory.
func ReadOrders(dir string) (*Orders, error) {
	o := &Orders{dir: dir}
	path := filepath.Join(dir, ordersFile)
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return o, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &o.list)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w; remove the file: the node finds its content in the log again", path, err)
	}
	return o, nil
}

// At returns the orders that concern the entry at an index.
func (o *Orders) At(index uint64) (all []fsm.QuarantineOrder) {
	for _, one := range o.list {
		if one.Index == index {
			all = append(all, one)
		}
	}
	return all
}

// Has reports whether an order is known.
func (o *Orders) Has(n fsm.QuarantineOrder) bool { return slices.Contains(o.list, n) }

// Add remembers an order. It is on the disk when Add returns.
func (o *Orders) Add(n fsm.QuarantineOrder) error { return o.keep(append(slices.Clone(o.list), n)) }

// Applied forgets the orders about entries that a snapshot of this node holds: they are not applied again.
func (o *Orders) Applied(snapshot uint64) error {
	left := slices.DeleteFunc(slices.Clone(o.list), func(n fsm.QuarantineOrder) bool { return n.Index <= snapshot })
	if len(left) == len(o.list) {
		return nil
	}
	return o.keep(left)
}

func (o *Orders) keep(list []fsm.QuarantineOrder) error {
	b, err := json.Marshal(list)
	if err != nil {
		return err
	}
	if err := membership.WriteSynced(filepath.Join(o.dir, ordersFile), b, os.Rename); err != nil {
		return err
	}
	o.list = list
	return nil
}
