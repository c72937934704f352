package main

import (
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"time"
)

// profiles serves Go's profiles on the address of --pprof until stop is called.
func (s *settings) profiles(log *slog.Logger) (stop func(), err error) {
	if s.Pprof == "" {
		return func() {}, nil
	}
	listener, err := net.Listen("tcp", s.Pprof)
	if err != nil {
		return nil, bindError("pprof", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener) // ends with Close
	}()
	log.Info("serving profiles", "url", "http://"+listener.Addr().String()+"/debug/pprof/")
	return func() { server.Close(); <-done }, nil
}
