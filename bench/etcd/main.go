package main

import (
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/signal"
	"syscall"

	"go.etcd.io/etcd/server/v3/embed"
)

func main() {
	var (
		name    = flag.String("name", "", "name of this member, one of those in -cluster")
		dir     = flag.String("dir", "", "data directory")
		client  = flag.String("client", "", "client URL; the HTTP gateway listens here, too")
		peer    = flag.String("peer", "", "peer URL")
		cluster = flag.String("cluster", "", "all members as name=peer-url,...")
	)
	flag.Parse()
	if err := run(*name, *dir, *client, *peer, *cluster); err != nil {
		fmt.Fprintln(os.Stderr, "etcd:", err)
		os.Exit(1)
	}
}

// run serves until a signal arrives or the member fails.
func run(name, dir, client, peer, cluster string) error {
	clientURL, err := url.Parse(client)
	if err != nil {
		return fmt.Errorf("-client: %w", err)
	}
	peerURL, err := url.Parse(peer)
	if err != nil {
		return fmt.Errorf("-peer: %w", err)
	}
	cfg := embed.NewConfig()
	cfg.Name, cfg.Dir, cfg.InitialCluster = name, dir, cluster
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = []url.URL{*clientURL}, []url.URL{*clientURL}
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = []url.URL{*peerURL}, []url.URL{*peerURL}
	cfg.LogLevel = "warn"
	member, err := embed.StartEtcd(cfg)
	if err != nil {
		return fmt.Errorf("start member %s: %w", name, err)
	}
	defer member.Close()
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	select {
	case <-stop:
		return nil
	case err := <-member.Err():
		return fmt.Errorf("member %s: %w", name, err)
	}
}
