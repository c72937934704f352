package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"syscall"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/pflag"

	"github.com/trireme-dev/trireme/cli"
	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/internal/certs"
	"github.com/trireme-dev/trireme/internal/connlimit"
	"github.com/trireme-dev/trireme/resp"
)

// off is the value of --resp that opens no listener.
const off = "off"

// respFlags declares the RESP listener and its limits.
func respFlags(f *pflag.FlagSet, s *settings) {
	f.StringVar(&s.RESP, "resp", off, "`ADDR` of the RESP listener, or off")
	f.StringVar(&s.RESPAdvertise, "resp-advertise", "", "`ADDR` of the RESP listener as clients reach it (default: --resp)")
	l := &s.RESPLimits
	f.IntVar(&l.Connections, "resp-max-connections", resp.DefaultConnections, "maximum number of RESP connections (0 = unlimited)")
	f.IntVar(&l.ConnectionsPerIP, "resp-max-connections-per-ip", connlimit.QuarterOfTotal, "maximum number of RESP connections from one address but loopback (-1 = a quarter of --resp-max-connections, 0 = unlimited)")
	f.IntVar(&l.TrackedKeys, "resp-tracked-keys", resp.DefaultTrackedKeys, "maximum number of keys tracked for client-side caching")
	f.DurationVar(&l.CommandTime, "resp-command-timeout", resp.DefaultCommandTime, "time limit for a RESP command to arrive")
	f.DurationVar(&l.LoginTime, "resp-login-timeout", resp.DefaultLoginTime, "time limit for a RESP connection to authenticate")
	f.DurationVar(&l.ReplyTime, "resp-reply-timeout", resp.DefaultReplyTime, "time limit for a RESP client to read from its replies")
}

// checkRESP checks --resp. Every connection carries a password, so beyond loopback it must be
// encrypted unless --plaintext resp allows it.
func (s *settings) checkRESP() error {
	if s.RESP == "" || s.RESP == off {
		s.RESP = off
		return nil
	}
	if err := s.RESPLimits.Check(); err != nil {
		return cli.Usagef("%w", err)
	}
	if !loopback(s.RESP) && s.TLSCert == "" && !slices.Contains(s.Plaintext, plainRESP) {
		return cli.Usagef("--resp %s is not on loopback and needs --tls-cert and --tls-key: passwords travel on it; on a private network, --plaintext resp allows it", s.RESP)
	}
	if s.RESPAdvertise != "" {
		if err := checkAddress("resp-advertise", s.RESPAdvertise); err != nil {
			return err
		}
	}
	return checkAddress("resp", s.RESP)
}

// listenRESP opens the address of --resp. It returns a nil listener if --resp is off, and busy if the
// address is the default one and in use.
func (s *settings) listenRESP(named bool) (l net.Listener, busy bool, err error) {
	if s.RESP == off {
		return nil, false, nil
	}
	listen := bind
	if !named { // a default address is not worth waiting for
		listen = func(addr string) (net.Listener, error) { return net.Listen("tcp", addr) }
	}
	l, err = listen(s.RESP)
	switch {
	case err == nil:
		return l, false, nil
	case !named && errors.Is(err, syscall.EADDRINUSE):
		return nil, true, nil
	}
	return nil, false, bindError("resp", err)
}

// certificate returns the TLS configuration of --tls-cert and --tls-key, or nil. Both listeners for
// clients share it, and both follow renewed files.
func (s *settings) certificate(log *slog.Logger) (*tls.Config, error) {
	if s.TLSCert == "" && s.TLSKey == "" {
		return nil, nil
	}
	pair, err := certs.LoadPair(s.TLSCert, s.TLSKey, log)
	if err != nil {
		return nil, fmt.Errorf("--tls-cert and --tls-key: %w", err)
	}
	return pair.Server(), nil
}

// security returns the TLS configuration between nodes, or nil.
func (s *settings) security(log *slog.Logger) (*cluster.Security, error) {
	if s.hasSecret() {
		secrets, err := s.secrets()
		if err != nil {
			return nil, err
		}
		authority, pair, err := certs.FromSecrets(secrets, s.NodeID, log)
		return &cluster.Security{Authority: authority, Pair: pair, PlainToo: s.insecureCluster()}, err
	}
	if s.ClusterCA == "" {
		return nil, nil
	}
	pair, err := certs.LoadPair(s.ClusterCert, s.ClusterKey, log)
	if err != nil {
		return nil, fmt.Errorf("--cluster-cert and --cluster-key: %w", err)
	}
	authority, err := certs.LoadAuthority(s.ClusterCA, log)
	if err != nil {
		return nil, fmt.Errorf("--cluster-ca: %w", err)
	}
	chain, err := pair.Chain()
	if err == nil {
		err = authority.Check(chain, s.NodeID)
	}
	if err != nil {
		return nil, fmt.Errorf("--cluster-cert %s: %w; the other nodes would refuse it", s.ClusterCert, err)
	}
	return &cluster.Security{Authority: authority, Pair: pair}, nil
}

// respAddress returns the address at which clients reach the RESP listener, as CLUSTER returns it.
func (pr *process) respAddress(l net.Listener) string {
	switch {
	case l == nil:
		return ""
	case pr.RESPAdvertise != "":
		return pr.RESPAdvertise
	}
	return l.Addr().String()
}

// openRESP makes the RESP server.
func (pr *process) openRESP(registry *prometheus.Registry) (*resp.Server, error) {
	config, err := pr.certificate(pr.log)
	if err != nil {
		return nil, err
	}
	limits := pr.RESPLimits
	limits.RequestBytes, limits.Rows = int(pr.MaxRequestSize), pr.MaxRows
	return resp.New(resp.Options{
		Engine: pr.engine, Meter: pr.meter, Stats: pr.figures, Audit: pr.audit, Hub: pr.hub, TLS: config, Log: pr.log, Metrics: registry, Limits: limits,
		Traces: pr.traces.commands(pr.Deliveries.TraceCommands), Buffers: pr.buffers,
	})
}

// notify passes the notifications of applied entries to the hub and to RESP connections.
func (pr *process) notify(notes []env.Notification) {
	pr.hub.Notify(notes)
	if pr.resp != nil {
		pr.resp.Notify(notes)
	}
}

// restored tells the hub and RESP connections that a snapshot has replaced the state.
func (pr *process) restored() {
	pr.hub.Restored()
	if pr.resp != nil {
		pr.resp.Restored()
	}
}

// shutdownRESP shuts the RESP server down, if there is one.
func (pr *process) shutdownRESP(ctx context.Context) {
	if pr.resp == nil {
		return
	}
	if err := pr.resp.Shutdown(ctx); err != nil {
		pr.log.Warn("RESP connections were cut off", "error", err)
	}
}
