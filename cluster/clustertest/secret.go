package clustertest

import (
	"log/slog"

	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/internal/certs"
)

// WithSecret makes nodes share a secret on the cluster port. Pass it to Start.
func WithSecret(secret string) func(*cluster.Options) {
	return func(o *cluster.Options) {
		secrets, err := certs.ParseSecrets(secret)
		if err != nil {
			panic(err)
		}
		authority, pair, err := certs.FromSecrets(secrets, o.NodeID, slog.New(slog.DiscardHandler))
		if err != nil {
			panic(err)
		}
		o.Security = &cluster.Security{Authority: authority, Pair: pair}
	}
}
