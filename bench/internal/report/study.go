package report

import (
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// Study is a run that measures the cost of a request at many sizes. It is saved after each, so that an interrupted
// run can go on.
type Study struct {
	Started time.Time `json:"started"`
	Machine Machine   `json:"machine"`
	Version string    `json:"version"` // of the product, as the first node said
	Pairs   int       `json:"pairs"`
	Seconds float64   `json:"seconds"`
	Costs   []Cost    `json:"costs"`
}

// Cost is the cost of a request at one size, in microseconds of the server's processor time.
type Cost struct {
	Axis string  `json:"axis"` // what grows, such as "keys"
	Size int     `json:"size"`
	Set  float64 `json:"set"`
	Get  float64 `json:"get"`
}

// Find is the cost at one size, if it was measured.
func (s *Study) Find(axis string, size int) (Cost, bool) {
	for _, c := range s.Costs {
		if c.Axis == axis && c.Size == size {
			return c, true
		}
	}
	return Cost{}, false
}

// Note says where and how it was measured, in one line.
func (s *Study) Note() string {
	return fmt.Sprintf("trireme %s, %s: median of %d turns of %g s, one node that syncs every write, %d cores of %s, %s",
		s.Version, s.Started.Format("2006-01-02"), s.Pairs, s.Seconds, s.Machine.Cores, s.Machine.CPU, s.Machine.Go)
}

// Save writes the study as JSON, whole or not at all.
func (s *Study) Save(path string) error { return save(path, s) }

// LoadStudy reads what Save wrote. Without a file it is an error that wraps fs.ErrNotExist.
func LoadStudy(path string) (*Study, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s := &Study{}
	if err := json.Unmarshal(b, s); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}
