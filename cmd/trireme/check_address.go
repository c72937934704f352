package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"syscall"

	"github.com/trireme-dev/trireme/cli"
	"github.com/trireme-dev/trireme/cluster"
)

// clusterAddress takes the cluster address from --initial-cluster unless a flag sets
// it.
func (s *settings) clusterAddress(peers []cluster.Peer) error {
	listed := len(peers) == 0
	for _, p := range peers {
		if p.ID != s.NodeID {
			continue
		}
		listed = true
		if s.Cluster == "" {
			s.Cluster = p.Addr
		}
		if s.ClusterAdvertise == "" {
			s.ClusterAdvertise = p.Addr
		}
	}
	if !listed {
		return cli.Usagef("--initial-cluster doesn't list this node, %s", s.NodeID)
	}
	if s.Cluster == "" {
		return cli.Usagef("--cluster is required without --initial-cluster")
	}
	return checkAddress("cluster", s.Cluster)
}

// parsePeers reads the list of --initial-cluster.
func parsePeers(text string) ([]cluster.Peer, error) {
	if text == "" {
		return nil, nil
	}
	peers, err := cluster.ParsePeers(text)
	if err != nil {
		return nil, cli.Usagef("--initial-cluster: %w", err)
	}
	for _, p := range peers {
		if err := checkAddress("initial-cluster", p.Addr); err != nil {
			return nil, err
		}
	}
	return peers, nil
}

func checkAddress(flag, addr string) error {
	if _, _, err := net.SplitHostPort(addr); err != nil {
		return cli.Usagef("--%s %q is not HOST:PORT", flag, addr)
	}
	return nil
}

// loopback reports whether an address is reachable from this machine only.
func loopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || (err == nil && ip.Unmap().IsLoopback())
}

// bindError explains why a listener could not be opened.
func bindError(flag string, err error) error {
	var op *net.OpError
	if errors.Is(err, syscall.EADDRINUSE) && errors.As(err, &op) {
		return fmt.Errorf("%s is in use by another process: stop it, or choose another address with --%s", op.Addr, flag)
	}
	return fmt.Errorf("open the address of --%s: %w", flag, err)
}

// explainStart adds advice to errors of the cluster port and of the data directory. It returns other errors unchanged.
func (s *settings) explainStart(err error) error {
	var path *fs.PathError
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return bindError("cluster", err)
	case !errors.As(err, &path):
		return err
	case errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("the disk of the data directory %s (--data-dir) is full: free space on it (%w)", s.DataDir, err)
	case errors.Is(err, syscall.EROFS) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("the data directory %s (--data-dir) can't be written: give the user of this process a folder of its own (%w)", s.DataDir, err)
	}
	return err
}
