// Package process starts provider plugins as processes, connects to them, and
// explains to people why one does not start or has died.
//
// It refuses to know which plugin belongs to which configuration: package provider's
// Pool does. Start at [Launch].
package process

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/provider/internal/tfplugin"
	"github.com/lockstep-iac/lockstep/engine/provider/internal/tfplugin5"
	"github.com/lockstep-iac/lockstep/engine/provider/internal/tfplugin6"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// handshake is the variable that provider plugins expect in their environment before they
// serve: a sign that they were not started by hand, no secret.
// Source: the plugin documentation of Terraform, and any plugin's own message.
var handshake = goplugin.HandshakeConfig{
	ProtocolVersion:  4, // of plugins too old to negotiate; none is accepted
	MagicCookieKey:   "TF_PLUGIN_MAGIC_COOKIE",
	MagicCookieValue: "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2",
}

// protocols are the plugin protocols we speak.
var protocols = map[int]tfplugin.Protocol{
	5: tfplugin5.Protocol,
	6: tfplugin6.Protocol,
}

const defaultStartTimeout = time.Minute

// exitGrace is how long a plugin may take to end when it is asked to.
const exitGrace = 5 * time.Second

// A Launch is the way to start a plugin. It can be used any number of times.
type Launch struct {
	// Name is the provider's name in messages, for instance its source address.
	Name string
	// Path is the plugin's executable.
	Path string
	Args []string
	// Env is the plugin's whole environment, "NAME=value" each: nothing is inherited.
	// TF_LOG in it is for the plugin itself.
	Env []string
	// Dir is the plugin's working directory; "": ours.
	Dir string
	// Begin starts the command of the plugin's process, for programs that have plugins live
	// with fewer rights; nil: its own Start does.
	Begin func(*exec.Cmd) error
	// DisableTLS leaves the connection, a socket in a private directory, without
	// mutual TLS, as TF_DISABLE_PLUGIN_TLS asks for.
	DisableTLS bool
	// Memory keeps the plugin's schema between runs. May be nil.
	Memory tfplugin.Memory
	// StartTimeout is how long the plugin may take until it can be spoken to; 0: a minute.
	StartTimeout time.Duration
	// Log takes the plugin's standard error, and the events of the process, as log
	// lines. It must be safe for concurrent use. May be nil.
	Log io.Writer
	// LogLevel is the least level to log, as in TF_LOG: TRACE, DEBUG, INFO, WARN, ERROR,
	// JSON (TRACE in JSON lines) or OFF. "": nothing is logged.
	LogLevel string
}

var _ provider.Factory = Launch{}.Start

// Start starts the plugin and connects to it. declared is the provider's schema if
// another process has already told it, else nil. The process outlives ctx, which
// bounds the start only: it must be closed. The error has the remedy.
func (l Launch) Start(ctx context.Context, declared *schema.Provider) (provider.Client, error) {
	r := &runner{launch: l, done: make(chan struct{}), last: &lastWords{}}
	if l.StartTimeout == 0 {
		l.StartTimeout = defaultStartTimeout
	}
	versions := make(map[int]goplugin.PluginSet, len(protocols))
	for v := range protocols {
		versions[v] = goplugin.PluginSet{pluginName: connOnly{}}
	}
	plugin := goplugin.NewClient(&goplugin.ClientConfig{
		HandshakeConfig:  handshake,
		VersionedPlugins: versions,
		RunnerFunc:       r.prepare,
		AutoMTLS:         !l.DisableTLS,
		AllowedProtocols: []goplugin.Protocol{goplugin.ProtocolGRPC},
		StartTimeout:     l.StartTimeout,
		SkipHostEnv:      true,
		Logger:           l.logger(),
		Stderr:           r.last,
		SyncStdout:       io.Discard,
		SyncStderr:       io.Discard,
		GRPCDialOptions:  []grpc.DialOption{grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(tfplugin.MaxMessage))},
	})
	conn, err := connect(ctx, plugin, r)
	if err != nil {
		r.end(plugin)
		return nil, r.explain(ctx, err, l.StartTimeout)
	}
	return tfplugin.New(tfplugin.Config{
		Protocol: protocols[plugin.NegotiatedVersion()],
		Name:     l.Name,
		Conn:     conn,
		Declared: declared,
		Memory:   l.Memory,
		Fate:     r.fate,
		Close: func() error {
			r.end(plugin)
			return nil
		},
	}), nil
}

// connect waits for the plugin's handshake and connects. go-plugin knows no context:
// when ctx ends, killing the process ends the wait.
func connect(ctx context.Context, plugin *goplugin.Client, r *runner) (*grpc.ClientConn, error) {
	stop := context.AfterFunc(ctx, r.abandon)
	defer stop()
	protocol, err := plugin.Client()
	if err != nil {
		return nil, err
	}
	conn, err := protocol.Dispense(pluginName)
	if err != nil {
		return nil, err
	}
	return conn.(*grpc.ClientConn), ctx.Err()
}

// logger is where go-plugin writes.
func (l Launch) logger() hclog.Logger {
	level := hclog.LevelFromString(l.LogLevel)
	if l.LogLevel == "JSON" {
		level = hclog.Trace
	}
	if l.Log == nil || level == hclog.NoLevel {
		return hclog.NewNullLogger()
	}
	return hclog.New(&hclog.LoggerOptions{
		Name:       "provider",
		Level:      level,
		Output:     l.Log,
		JSONFormat: l.LogLevel == "JSON",
	})
}

// pluginName is the name under which provider plugins serve.
const pluginName = "provider"

// connOnly makes go-plugin hand over the connection as it is.
type connOnly struct {
	goplugin.NetRPCUnsupportedPlugin
}

func (connOnly) GRPCServer(*goplugin.GRPCBroker, *grpc.Server) error {
	return fmt.Errorf("not a plugin: pid %d", os.Getpid())
}

func (connOnly) GRPCClient(_ context.Context, _ *goplugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return conn, nil
}
