package network

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// prefix begins the names of namespaces and devices.
const prefix = "tj"

// ErrNoSubnet is returned when every subnet is taken.
var ErrNoSubnet = errors.New("no free subnet")

// Switch joins hosts, which are network namespaces, by one device each. The hosts have no
// way out of their subnet.
type Switch struct {
	number int // of the subnet
	lock   *os.File
	hosts  []*host
	links  [][]*link // by from and to
	stop   chan struct{}
	all    sync.WaitGroup
}

// host is one end. The last one is the caller's own namespace.
type host struct {
	namespace string
	addr      string
	device    *os.File
}

// NewSwitch makes so many hosts. Only root can.
func NewSwitch(hosts int) (s *Switch, err error) {
	s = &Switch{stop: make(chan struct{})}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	if s.number, s.lock, err = reserveSubnet(); err != nil {
		return s, err
	}
	clean(s.name())
	for i := range hosts + 1 {
		h, err := s.newHost(i, i == hosts)
		if h != nil {
			s.hosts = append(s.hosts, h)
		}
		if err != nil {
			return s, err
		}
	}
	for from := range s.hosts {
		row := make([]*link, len(s.hosts))
		for to := range s.hosts {
			row[to] = newLink(s.hosts[to].device, uint64(from*64+to))
			s.all.Go(func() { row[to].deliver(s.stop) })
		}
		s.links = append(s.links, row)
	}
	for from := range s.hosts {
		s.all.Go(func() { s.pump(from) })
	}
	return s, nil
}

func (s *Switch) name() string { return fmt.Sprintf("%s%d-", prefix, s.number) }

// Namespace is the name of a host's network namespace.
func (s *Switch) Namespace(i int) string { return s.hosts[i].namespace }

// Addr is the address of a host; that of the clients is the harness's own.
func (s *Switch) Addr(i int) string { return s.hosts[i].addr }

// Subnet returns the subnet of all hosts.
func (s *Switch) Subnet() string { return fmt.Sprintf("10.213.%d.0/24", s.number) }

// Clients implements Network.
func (s *Switch) Clients() int { return len(s.hosts) - 1 }

// Frames implements Network.
func (s *Switch) Frames() bool { return true }

// Set implements Network.
func (s *Switch) Set(from, to int, r Rule) { s.links[from][to].rule.Store(&r) }

// Heal implements Network.
func (s *Switch) Heal() {
	for from := range s.hosts {
		for to := range s.hosts {
			s.Set(from, to, Rule{})
		}
	}
}

// Close implements Network; it removes the namespaces.
func (s *Switch) Close() {
	close(s.stop)
	for _, h := range s.hosts {
		h.device.Close()
	}
	s.all.Wait()
	if s.lock != nil {
		clean(s.name())
		s.lock.Close()
	}
}

// newHost makes the i-th host and its device; own is the caller's namespace.
func (s *Switch) newHost(i int, own bool) (*host, error) {
	device := fmt.Sprintf("%s%dt%d", prefix, s.number, i)
	file, err := openTap(device)
	if err != nil {
		return nil, err
	}
	h := &host{device: file, addr: fmt.Sprintf("10.213.%d.%d", s.number, i+1)}
	var in []string
	if own {
		h.addr = fmt.Sprintf("10.213.%d.254", s.number)
	} else {
		h.namespace = fmt.Sprintf("%s%d", s.name(), i)
		in = []string{"-n", h.namespace}
		if err := errors.Join(ip("netns", "add", h.namespace), ip("link", "set", device, "netns", h.namespace), ip("-n", h.namespace, "link", "set", "lo", "up")); err != nil {
			return h, err
		}
	}
	mac := fmt.Sprintf("02:fa:00:00:00:%02x", i+1)
	return h, errors.Join(
		ip(append(in, "link", "set", device, "address", mac)...),
		ip(append(in, "addr", "add", h.addr+"/24", "dev", device)...),
		ip(append(in, "link", "set", device, "up")...),
	)
}

// pump reads the frames of a host and gives each to the links it is for.
func (s *Switch) pump(from int) {
	buffer := make([]byte, 1<<16)
	for {
		n, err := s.hosts[from].device.Read(buffer)
		if err != nil {
			return // closed
		}
		if n < 14 {
			continue
		}
		frame := append([]byte(nil), buffer[:n]...)
		switch to := int(frame[5]) - 1; {
		case frame[0]&1 == 1: // to all: the question who has an address
			for to := range s.hosts {
				if to != from {
					s.links[from][to].send(frame)
				}
			}
		case frame[0] == 0x02 && frame[1] == 0xfa && to >= 0 && to < len(s.hosts) && to != from:
			s.links[from][to].send(frame)
		}
	}
}

// reserveSubnet takes the number of a subnet for as long as the lock is open.
func reserveSubnet() (int, *os.File, error) {
	dir := filepath.Join(os.TempDir(), "trireme-test-subnets")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return 0, nil, fmt.Errorf("reserve a subnet: %w", err)
	}
	for n := range 250 {
		file, err := os.OpenFile(filepath.Join(dir, fmt.Sprint(n)), os.O_CREATE|os.O_RDWR|syscall.O_CLOEXEC, 0o666)
		if err != nil {
			return 0, nil, fmt.Errorf("reserve a subnet: %w", err)
		}
		if syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			return n, file, nil
		}
		file.Close()
	}
	return 0, nil, ErrNoSubnet
}

// clean removes namespaces that begin so: of this switch, or of one that had its number
// before and was killed.
func clean(name string) {
	list, err := exec.Command("ip", "netns", "list").Output()
	if err != nil {
		return
	}
	for _, line := range strings.Split(string(list), "\n") {
		if n, _, _ := strings.Cut(strings.TrimSpace(line), " "); strings.HasPrefix(n, name) {
			ip("netns", "del", n)
		}
	}
}

func ip(args ...string) error {
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}
