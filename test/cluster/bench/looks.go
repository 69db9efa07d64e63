//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// lookCosts is the cost of a verb that reads a Job.
type lookCosts struct {
	Verb            string
	Seconds, CPU    float64
	Requests, Bytes int64
	// Peak is in bytes of resident memory.
	Peak int64
}

// watchFor is how long the interactive view stays open.
const watchFor = 30 * time.Second

// look runs a verb of our binary through the proxy and measures it. watch runs in a terminal, from script(1), and is
// ended after watchFor.
func (b *bench) look(ctx context.Context, p *proxy, args []string) (lookCosts, error) {
	requests, received := p.requests.Load(), p.bytes.Load()
	command := append([]string{b.launched.binary}, append(args, "--kubeconfig", p.kubeconfig)...)
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	if args[0] == "watch" {
		ctx, cancel := context.WithTimeout(ctx, watchFor)
		defer cancel()
		cmd = exec.CommandContext(ctx, "script", "-qfec", "stty rows 50 cols 160; exec "+strings.Join(command, " "), "/dev/null")
		cmd.Env = append(os.Environ(), "TERM=xterm-256color")
		cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
		cmd.WaitDelay = 10 * time.Second
	}
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		return lookCosts{}, err
	}
	used := followUsage(cmd.Process.Pid)
	err := cmd.Wait()
	took, most := time.Since(begun), used()
	own := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if most.peak == 0 {
		return lookCosts{}, errors.New("the peak of its memory cannot be read from /proc/PID/task/PID/children")
	}
	if err != nil && args[0] != "watch" {
		return lookCosts{}, fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, &output)
	}
	return lookCosts{
		Verb: args[0], Seconds: took.Seconds(), CPU: max(most.cpu, own.Seconds()),
		Requests: p.requests.Load() - requests, Bytes: p.bytes.Load() - received, Peak: most.peak,
	}, nil
}

// lookUsage is the largest resident memory of a process, in bytes, and its CPU seconds.
type lookUsage struct {
	peak int64
	cpu  float64
}

// followUsage measures a process and its children and returns the maximum of each figure: script(1) uses less than the
// verb that it runs. The kernel's own figures at the end would include the peak of this process, which forked it, and
// would lack the CPU time of script's child.
func followUsage(pid int) (stop func() lookUsage) {
	ending, result := make(chan struct{}), make(chan lookUsage)
	go func() {
		var most lookUsage
		ticker := time.NewTicker(usageEvery)
		defer ticker.Stop()
		for {
			children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
			if err != nil && most.peak == 0 {
				result <- most
				return
			}
			for _, id := range append(strings.Fields(string(children)), strconv.Itoa(pid)) {
				most.add(id)
			}
			select {
			case <-ending:
				result <- most
				return
			case <-ticker.C:
			}
		}
	}()
	return func() lookUsage { close(ending); return <-result }
}

// add raises the maximums to the figures of a process; a process that has ended has none.
func (u *lookUsage) add(id string) {
	if text, err := os.ReadFile("/proc/" + id + "/status"); err == nil {
		if peak, err := parsePeak(string(text)); err == nil {
			u.peak = max(u.peak, peak)
		}
	}
	if text, err := os.ReadFile("/proc/" + id + "/stat"); err == nil {
		if cpu, err := parseStat(string(text)); err == nil {
			u.cpu = max(u.cpu, cpu)
		}
	}
}

// usageEvery is short enough to miss only the last moment of a process.
const usageEvery = 10 * time.Millisecond

// proxy is a proxy between a client and the API server that counts requests and bytes.
type proxy struct {
	requests, bytes atomic.Int64
	kubeconfig      string // names the proxy as the server
	server          *http.Server
}

func startProxy(kubeconfig string) (*proxy, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, err
	}
	target, err := url.Parse(config.Host)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{kubeconfig: filepath.Join(filepath.Dir(kubeconfig), "counted.kubeconfig")}
	reverse := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:     transport,
		FlushInterval: -1, // watches
	}
	p.server = &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.requests.Add(1)
		reverse.ServeHTTP(&countedResponse{ResponseWriter: w, bytes: &p.bytes}, r)
	})}
	go func() { _ = p.server.Serve(listener) }() // ends with stop
	server := clientcmdapi.NewConfig()
	server.Clusters["counted"] = &clientcmdapi.Cluster{Server: "http://" + listener.Addr().String()}
	server.Contexts["counted"] = &clientcmdapi.Context{Cluster: "counted", Namespace: namespace}
	server.CurrentContext = "counted"
	return p, clientcmd.WriteToFile(*server, p.kubeconfig)
}

func (p *proxy) stop() {
	_ = p.server.Close()
	_ = os.Remove(p.kubeconfig)
}

// countedResponse counts the bytes of a body.
type countedResponse struct {
	http.ResponseWriter
	bytes *atomic.Int64
}

func (c *countedResponse) Write(data []byte) (int, error) {
	n, err := c.ResponseWriter.Write(data)
	c.bytes.Add(int64(n))
	return n, err
}

// Unwrap lets the proxy flush watches.
func (c *countedResponse) Unwrap() http.ResponseWriter { return c.ResponseWriter }
