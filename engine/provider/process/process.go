// Package process starts provider plugins as processes, connects to them, and explains why a plugin does not
// start or has died.
//
// It does not know which plugin belongs to which configuration: package provider's Pool does. Start at
// [Launch].
package process

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"runtime"
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

// handshake is the environment variable that provider plugins require before they serve. It shows that they
// were not started by hand, and is no secret.
// Source: the plugin documentation of Terraform, and any plugin's own message.
var handshake = goplugin.HandshakeConfig{
	ProtocolVersion:  4, // of plugins too old to negotiate; none is accepted
	MagicCookieKey:   "TF_PLUGIN_MAGIC_COOKIE",
	MagicCookieValue: "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2",
}

// protocols are the supported plugin protocols, by version.
var protocols = map[int]tfplugin.Protocol{
	5: tfplugin5.Protocol,
	6: tfplugin6.Protocol,
}

const defaultStartTimeout = time.Minute

// exitGrace is the time that a plugin has to end after it was asked to.
const exitGrace = 5 * time.Second

// A Launch describes how to start a plugin. It can be used any number of times.
type Launch struct {
	// Name is the provider's name for messages, for instance its source address.
	Name string
	// Terraform is the release of Terraform that the plugin is told; "" means that of the newest language.
	Terraform string
	// Path is the plugin's executable.
	Path string
	Args []string
	// Env is the plugin's complete environment, each entry as "NAME=value": the plugin inherits nothing.
	// TF_LOG in Env applies to the plugin itself.
	Env []string
	// Dir is the plugin's working directory. "" means the working directory of this process.
	Dir string
	// Begin starts the command of the plugin's process. nil means the command's own Start. A program can set
	// Begin to run plugins with fewer rights.
	Begin func(*exec.Cmd) error
	// DisableTLS turns off TLS also for plugins that listen on a TCP port, which other users of the machine can reach.
	// Source: the variable TF_DISABLE_PLUGIN_TLS.
	DisableTLS bool
	// Memory keeps the plugin's schema between runs; it may be nil.
	Memory tfplugin.Memory
	// StartTimeout is the time that the plugin has until it accepts calls; 0 means a minute.
	StartTimeout time.Duration
	// Stderr returns a writer for each process of the plugin, which gets a copy of its standard error, without any
	// limit. It may be nil. The plugin's log level is a variable in Env.
	Stderr func() io.Writer
	// Log gets the plugin's standard error, and the events of the process, as log lines. It must be safe for
	// concurrent use, and may be nil.
	Log io.Writer
	// LogLevel is the lowest level that is logged, as in TF_LOG: TRACE, DEBUG, INFO, WARN, ERROR, JSON (TRACE
	// in JSON lines) or OFF. "" means that nothing is logged.
	LogLevel string
	// Called gets each call of the plugin that has ended, by its name in the protocol, such as "ReadResource", with the time
	// that it took. It must be safe for concurrent use, and may be nil.
	Called func(method string, took time.Duration)
}

var _ provider.Factory = Launch{}.Start

// Start starts the plugin and connects to it. declared is the provider's schema if another process has
// returned it, otherwise nil. ctx limits only the start: the process outlives it and must be closed. The
// error says what to do.
//
// A plugin usually listens on a Unix socket in a directory that only this user can enter. Such a connection needs no TLS, whose keys
// and handshake would take a third of the processor time of a small plan. A plugin that listens on a TCP port is started once more,
// with mutual TLS.
func (l Launch) Start(ctx context.Context, declared *schema.Provider) (provider.Client, error) {
	const onTCP = runtime.GOOS == "windows" // all plugins
	c, r, err := l.start(ctx, declared, onTCP && !l.DisableTLS)
	if err != nil || onTCP || l.DisableTLS || r.hello.network() == "unix" {
		return c, err
	}
	if err := c.Close(); err != nil {
		return nil, err
	}
	c, _, err = l.start(ctx, declared, true)
	return c, err
}

// start starts the plugin, with or without TLS.
func (l Launch) start(ctx context.Context, declared *schema.Provider, tls bool) (provider.Client, *runner, error) {
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
		AutoMTLS:         tls,
		AllowedProtocols: []goplugin.Protocol{goplugin.ProtocolGRPC},
		StartTimeout:     l.StartTimeout,
		SkipHostEnv:      true,
		Logger:           l.logger(),
		Stderr:           l.stderr(r.last),
		SyncStdout:       io.Discard,
		SyncStderr:       io.Discard,
		GRPCDialOptions:  l.dialOptions(),
	})
	conn, err := connect(ctx, plugin, r)
	if err != nil {
		r.end(plugin)
		return nil, r, r.explain(ctx, err, l.StartTimeout)
	}
	return tfplugin.New(tfplugin.Config{
		Protocol:  protocols[plugin.NegotiatedVersion()],
		Name:      l.Name,
		Terraform: l.Terraform,
		Conn:      conn,
		Declared:  declared,
		Memory:    l.Memory,
		Fate:      r.fate,
		Close: func() error {
			r.end(plugin)
			return nil
		},
	}), r, nil
}

// dialOptions are the options of the connection to the plugin.
func (l Launch) dialOptions() []grpc.DialOption {
	options := []grpc.DialOption{grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(tfplugin.MaxMessage))}
	if l.Called == nil {
		return options
	}
	return append(options, grpc.WithChainUnaryInterceptor(func(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
		began := time.Now()
		err := invoke(ctx, method, req, reply, conn, options...)
		l.Called(path.Base(method), time.Since(began))
		return err
	}))
}

// stderr returns the writer for the standard error of one process.
func (l Launch) stderr(last *lastWords) io.Writer {
	if l.Stderr == nil {
		return last
	}
	return io.MultiWriter(last, l.Stderr())
}

// connect waits for the plugin's handshake and connects. go-plugin accepts no context, so connect kills the
// process when ctx ends, which ends the wait.
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

// logs reports whether go-plugin logs anything.
func (l Launch) logs() bool {
	return l.Log != nil && (l.LogLevel == "JSON" || hclog.LevelFromString(l.LogLevel) != hclog.NoLevel)
}

// logger returns the logger for go-plugin.
func (l Launch) logger() hclog.Logger {
	level := hclog.LevelFromString(l.LogLevel)
	if l.LogLevel == "JSON" {
		level = hclog.Trace
	}
	if !l.logs() {
		return hclog.New(&hclog.LoggerOptions{Level: hclog.Off, Output: io.Discard}) // go-plugin then parses no line
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

// connOnly makes go-plugin return the bare connection.
type connOnly struct {
	goplugin.NetRPCUnsupportedPlugin
}

func (connOnly) GRPCServer(*goplugin.GRPCBroker, *grpc.Server) error {
	return fmt.Errorf("not a plugin: pid %d", os.Getpid())
}

func (connOnly) GRPCClient(_ context.Context, _ *goplugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return conn, nil
}
