#!/bin/sh
# go-plugin v1.8.0: AutoMTLS makes P-521 keys also for a Unix socket in a directory that only one user can enter.
#
# With a RunnerFunc, go-plugin makes a directory of mode 0700 for each plugin, and the plugin listens on a Unix socket in it. With AutoMTLS,
# which Terraform's protocol has on by default, both sides make an ECDSA key on the curve P-521 at each start, and shake hands with it. Go has
# no assembly code for this curve. So host and plugin together take more than three times the processor time of those without TLS, for a
# connection that no other user of the machine can open.
#
# The script starts a plugin 20 times with AutoMTLS, and 20 times without. It says what the plugin was given, and compares the
# processor time of both.
#
# Usage: sh findings/go-plugin-tls-on-private-socket.sh      needs Go, and a system with Unix sockets; exits with 1 if the behaviour has changed
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
cat >main.go <<'GO'
package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"
	"google.golang.org/grpc"
)

var shake = plugin.HandshakeConfig{ProtocolVersion: 1, MagicCookieKey: "K", MagicCookieValue: "V"}

type empty struct{ plugin.NetRPCUnsupportedPlugin }

func (empty) GRPCServer(*plugin.GRPCBroker, *grpc.Server) error { return nil }

func (empty) GRPCClient(_ context.Context, _ *plugin.GRPCBroker, c *grpc.ClientConn) (any, error) {
	return c, nil
}

// process starts the plugin as go-plugin's own runner does.
type process struct {
	*exec.Cmd
	out, err io.ReadCloser
}

func (p process) Start(context.Context) error               { return p.Cmd.Start() }
func (p process) Wait(context.Context) error                { return p.Cmd.Wait() }
func (p process) Kill(context.Context) error                { return p.Process.Kill() }
func (p process) Stdout() io.ReadCloser                     { return p.out }
func (p process) Stderr() io.ReadCloser                     { return p.err }
func (p process) Name() string                              { return p.Path }
func (p process) ID() string                                { return fmt.Sprint(p.Process.Pid) }
func (p process) Diagnose(context.Context) string           { return "" }
func (p process) PluginToHost(n, a string) (string, string, error) { return n, a, nil }
func (p process) HostToPlugin(n, a string) (string, string, error) { return n, a, nil }

func start(tls, tell bool) {
	c := plugin.NewClient(&plugin.ClientConfig{
		HandshakeConfig: shake, Plugins: plugin.PluginSet{"p": empty{}}, AutoMTLS: tls, AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC}, Logger: hclog.NewNullLogger(),
		RunnerFunc: func(_ hclog.Logger, given *exec.Cmd, dir string) (runner.Runner, error) {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(given.Env, "PLAYS_PLUGIN=1")
			if tell {
				info, err := os.Stat(dir)
				if err != nil {
					return nil, err
				}
				fmt.Printf("AutoMTLS %t: the socket's directory has mode %o, ", tls, info.Mode().Perm())
				curve := "no certificate"
				for _, kv := range given.Env {
					text, is := strings.CutPrefix(kv, "PLUGIN_CLIENT_CERT=")
					if b, _ := pem.Decode([]byte(text)); is && b != nil {
						x, err := x509.ParseCertificate(b.Bytes)
						if err != nil {
							return nil, err
						}
						curve = "a certificate on " + x.PublicKey.(*ecdsa.PublicKey).Curve.Params().Name
					}
				}
				fmt.Printf("the plugin gets %s, ", curve)
			}
			out, err := cmd.StdoutPipe()
			if err != nil {
				return nil, err
			}
			errs, err := cmd.StderrPipe()
			return process{cmd, out, errs}, err
		},
	})
	defer c.Kill()
	protocol, err := c.Client()
	if err == nil {
		err = protocol.Ping()
	}
	if err != nil {
		panic(err)
	}
	if tell {
		fmt.Printf("the network is %s\n", c.ReattachConfig().Addr.Network())
	}
}

// cpu returns the processor time of this process and its ended plugins, in nanoseconds.
func cpu() (sum int64) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var r syscall.Rusage
		if err := syscall.Getrusage(who, &r); err != nil {
			panic(err)
		}
		sum += r.Utime.Nano() + r.Stime.Nano()
	}
	return sum
}

func main() {
	if os.Getenv("PLAYS_PLUGIN") != "" {
		plugin.Serve(&plugin.ServeConfig{HandshakeConfig: shake, Plugins: plugin.PluginSet{"p": empty{}}, GRPCServer: plugin.DefaultGRPCServer, Logger: hclog.NewNullLogger()})
		return
	}
	took := map[bool]int64{}
	for _, tls := range []bool{true, false} {
		start(tls, true)
		before := cpu()
		for range 20 {
			start(tls, false)
		}
		took[tls] = cpu() - before
	}
	fmt.Fprintf(os.Stderr, "processor time of a start: %.1f ms with TLS, %.1f ms without\n", float64(took[true])/20e6, float64(took[false])/20e6)
	fmt.Printf("with TLS more than twice the processor time: %t\n", took[true] > 2*took[false])
}
GO
cat >go.mod <<'MOD'
module finding

go 1.26

require (
	github.com/hashicorp/go-hclog v1.6.3
	github.com/hashicorp/go-plugin v1.8.0
)
MOD
go mod tidy >/dev/null 2>&1
go build -o finding .
./finding >out
cat out
cat >want <<'WANT'
AutoMTLS true: the socket's directory has mode 700, the plugin gets a certificate on P-521, the network is unix
AutoMTLS false: the socket's directory has mode 700, the plugin gets no certificate, the network is unix
with TLS more than twice the processor time: true
WANT
cmp -s out want || { echo "the behaviour has changed" >&2; exit 1; }
