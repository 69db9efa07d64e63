//go:build unix

package main

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

//go:embed stages/*.yaml
var stageFiles embed.FS

//go:embed policy.yaml
var policyFile string

const clusterName = "batchjob"

// serverComponents are the components that kwokctl starts, by its names for them.
var serverComponents = []string{"etcd", "kube-apiserver", "kube-controller-manager", "kwok-controller"}

// cluster is one running control plane with all of its files, below dir.
type cluster struct {
	dir        string // the user's; only the files named here are ours
	bin        string
	kwok       string // dir/kwok: kwokctl's state
	state      string // dir/kwok/clusters/batchjob
	kubeconfig string
	audited    string   // the user whose requests are logged, in addition to changes of pods; no log if empty
	release    *release // nil for this module's release
	gates      string   // feature gates, as on a command line
	out        io.Writer
}

func newCluster(dir, bin string) *cluster {
	kwok := filepath.Join(dir, "kwok")
	return &cluster{
		dir: dir, bin: bin, kwok: kwok, out: os.Stderr,
		state:      filepath.Join(kwok, "clusters", clusterName),
		kubeconfig: filepath.Join(dir, "kubeconfig"),
	}
}

// up starts the cluster, unless it is running. It first removes an incomplete one.
func (c *cluster) up(ctx context.Context, nodes int) error {
	if err := os.MkdirAll(c.dir, 0o755); err != nil {
		return err
	}
	unlock, err := c.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := c.healthy(ctx); err == nil {
		fmt.Fprintln(c.out, "The cluster is already running; `down` removes it.")
		c.hint()
		return nil
	} else if ctx.Err() != nil {
		return ctx.Err()
	} else if exists(c.kwok) {
		fmt.Fprintf(c.out, "Replacing a cluster that does not work: %v\n", err)
	}
	if err := c.remove(); err != nil {
		return err
	}
	// Hide it from git.
	if err := os.WriteFile(filepath.Join(c.dir, ".gitignore"), []byte("*\n"), 0o644); err != nil {
		return err
	}
	p := startProgress(c.out, fmt.Sprintf("Starting Kubernetes %s with %d nodes", c.version(), nodes))
	err = c.start(ctx, nodes)
	p.stop(err)
	if err != nil {
		// The processes are stopped, but their logs are kept.
		return errors.Join(err, stopProcesses(c.dir))
	}
	c.hint()
	return nil
}

func (c *cluster) hint() {
	fmt.Printf("export KUBECONFIG=%s\n", c.kubeconfig)
}

// lock prevents concurrent calls for the same cluster.
func (c *cluster) lock(ctx context.Context) (func(), error) {
	return lock(ctx, filepath.Join(c.dir, "lock"), func() {
		fmt.Fprintln(c.out, "waiting for another up or down of this cluster to finish")
	})
}

// healthy returns nil if every component is running and the cluster can run pods.
func (c *cluster) healthy(ctx context.Context) error {
	if err := c.allRun(); err != nil {
		return err
	}
	client, err := newAPI(c.kubeconfig, filepath.Join(c.state, "pki"))
	if err != nil {
		return err
	}
	// A busy cluster gets time to respond: replacing it would lose its contents.
	if err := c.wait(ctx, "the API server does not serve", client.serving); err != nil {
		return err
	}
	if err := client.podsGetNodes(ctx); err != nil {
		return err
	}
	return client.nodesReady(ctx, 1)
}

func (c *cluster) start(ctx context.Context, nodes int) error {
	config, err := c.config()
	if err != nil {
		return err
	}
	configPath := filepath.Join(c.dir, "kwok-config.yaml")
	if err := os.WriteFile(configPath, config, 0o644); err != nil {
		return err
	}
	if err := c.writeAuditPolicy(); err != nil {
		return err
	}
	cmd := command(ctx, filepath.Join(c.bin, "kwokctl"), "create", "cluster",
		"--name", clusterName, "--config", configPath, "--kubeconfig", c.kubeconfig)
	cmd.Dir = c.dir
	cmd.Env = c.environment(os.Environ())
	output, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("kwokctl create cluster: %s (%w); the components' logs are in %s", lastLine(output), err, filepath.Join(c.state, "logs"))
	}
	client, err := newAPI(c.kubeconfig, filepath.Join(c.state, "pki"))
	if err != nil {
		return fmt.Errorf("%w; kwokctl said: %s", err, lastLine(output))
	}
	return c.prepare(ctx, client, nodes)
}

// prepare creates the nodes and the policy, and waits until Jobs can run.
func (c *cluster) prepare(ctx context.Context, client *api, nodes int) error {
	if err := c.wait(ctx, "the API server does not serve", client.serving); err != nil {
		return err
	}
	const group = "admissionregistration.k8s.io/"
	served := group + c.release.policyVersion()
	policy := strings.NewReplacer("NODES", strconv.Itoa(nodes), group+"v1", served).Replace(policyFile)
	for _, object := range strings.Split(policy, "\n---\n") {
		resource := "mutatingadmissionpolicies"
		if strings.Contains(object, "kind: MutatingAdmissionPolicyBinding") {
			resource = "mutatingadmissionpolicybindings"
		}
		if err := client.apply(ctx, "/apis/"+served+"/"+resource+"/assign-node", []byte(object)); err != nil {
			return err
		}
	}
	for i := range nodes {
		object, err := json.Marshal(node(i))
		if err != nil {
			return err
		}
		if err := client.do(ctx, "POST", "/api/v1/nodes", "application/json", object, nil); err != nil {
			return err
		}
	}
	if err := c.wait(ctx, "pods cannot be created", client.podsGetNodes); err != nil {
		return err
	}
	return c.wait(ctx, "the nodes do not come up", func(ctx context.Context) error {
		return client.nodesReady(ctx, nodes)
	})
}

// wait repeats probe until it succeeds. It gives up after a minute, or at once if a process has exited.
func (c *cluster) wait(ctx context.Context, what string, probe func(context.Context) error) error {
	deadline := time.Now().Add(time.Minute)
	for {
		err := probe(ctx)
		if err == nil || ctx.Err() != nil {
			return err
		}
		if crashed := c.allRun(); crashed != nil {
			err = crashed
		}
		if errors.Is(err, errCrashed) || time.Now().After(deadline) {
			return fmt.Errorf("%s: %w; the logs are in %s", what, err, filepath.Join(c.state, "logs"))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

var errCrashed = errors.New("not all of its processes run")

// allRun returns nil if every component has a process.
func (c *cluster) allRun() error {
	processes, err := findProcesses(c.dir)
	if err != nil {
		return err
	}
	var running []string
	for _, p := range processes {
		running = append(running, p.name)
	}
	if len(running) != len(serverComponents) {
		slices.Sort(running)
		return fmt.Errorf("%w, only %v", errCrashed, running)
	}
	return nil
}

// kwokNode is the annotation of the nodes that kwok simulates.
const kwokNode = "kwok.x-k8s.io/node"

// node returns a node for kwok to simulate, with capacity for any number of pods.
func node(i int) map[string]any {
	name := "node-" + strconv.Itoa(i)
	room := map[string]string{"cpu": "1k", "memory": "1Ti", "pods": "1M"}
	return map[string]any{
		"apiVersion": "v1",
		"kind":       "Node",
		"metadata": map[string]any{
			"name":        name,
			"annotations": map[string]string{kwokNode: "fake"},
			"labels": map[string]string{
				"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64", "type": "kwok",
			},
		},
		"spec": map[string]any{"podCIDR": fmt.Sprintf("10.%d.0.0/16", i%256)},
		"status": map[string]any{
			"allocatable": room, "capacity": room,
			// Requests from the API server to the kubelet go to kwok, on this machine.
			"addresses": []map[string]string{{"type": "InternalIP", "address": "127.0.0.1"}, {"type": "Hostname", "address": name}},
		},
	}
}

// config returns the configuration of kwokctl and kwok: their settings, then our stages, which replace kwok's.
func (c *cluster) config() ([]byte, error) {
	ports, err := freePorts(5)
	if err != nil {
		return nil, err
	}
	const group = "config.kwok.x-k8s.io/v1alpha1"
	binary := func(name string) string { return filepath.Join(c.bin, name) }
	documents := []any{
		map[string]any{"apiVersion": group, "kind": "KwokctlConfiguration", "options": map[string]any{
			"runtime": "binary", "components": serverComponents,
			"bindAddress": "127.0.0.1", "disableQPSLimits": true,
			"etcdBinary": binary("etcd"), "kubeApiserverBinary": binary("kube-apiserver"),
			"kubeControllerManagerBinary": c.manager(),
			"kwokControllerBinary":        binary("kwok"), "kubectlBinary": binary("kubectl"),
			"etcdPort": ports[0], "etcdPeerPort": ports[1], "kubeApiserverPort": ports[2],
			"kubeControllerManagerPort": ports[3], "kwokControllerPort": ports[4],
		}, "componentsPatches": c.patches()},
		map[string]any{"apiVersion": group, "kind": "KwokConfiguration", "options": map[string]any{
			// Many pods change state at once; kwok's default is 4. The other values are kwok's defaults, which it does
			// not apply if there is such an object.
			"podPlayStageParallelism": 16, "nodePlayStageParallelism": 4, "nodeLeaseParallelism": 4,
			"podsOnNodeSyncParallelism": 1, "nodeLeaseDurationSeconds": 40, "cidr": "10.0.0.1/24",
			"enableDebuggingHandlers": true,
		}},
	}
	var out bytes.Buffer
	for _, document := range documents {
		data, err := json.Marshal(document)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&out, "%s\n---\n", data)
	}
	files, err := stageFiles.ReadDir("stages")
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		data, err := stageFiles.ReadFile("stages/" + file.Name())
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&out, "%s\n---\n", data)
	}
	return out.Bytes(), nil
}

// manager returns the path of the program that runs Kubernetes' own controllers.
func (c *cluster) manager() string {
	if has(c.bin, "kube-controller-manager") {
		return filepath.Join(c.bin, "kube-controller-manager")
	}
	return filepath.Join(c.bin, "kube-job-controller")
}

// serverArgs returns the API server's arguments in addition to kwokctl's.
func (c *cluster) serverArgs() []map[string]string {
	// As strict as clusters get: to create a Job's pods, a user needs permission to block the Job's deletion.
	args := []map[string]string{
		{"key": "enable-admission-plugins", "value": "OwnerReferencesPermissionEnforcement"},
		// Service addresses are not routed here: the API server resolves the endpoints of a webhook's Service itself,
		// as on the clusters of large providers, and reports if there are none.
		{"key": "enable-aggregator-routing", "value": "true"},
	}
	if c.audited != "" {
		args = append(args, map[string]string{"key": "audit-policy-file", "value": c.auditPolicy()},
			map[string]string{"key": "audit-log-path", "value": filepath.Join(c.dir, "audit.log")},
			map[string]string{"key": "audit-log-maxsize", "value": "100000"}) // It is read as one file; default: 100 MB.
	}
	return args
}

func (c *cluster) version() string {
	if c.release == nil {
		return kubeVersion
	}
	return c.release.version
}

// patches returns the arguments of components in addition to kwokctl's.
func (c *cluster) patches() []any {
	gates := slices.DeleteFunc([]string{c.release.serverGates(), c.gates}, func(s string) bool { return s == "" })
	server, manager := append(c.serverArgs(), c.release.serverArgs()...), []map[string]string{}
	if len(gates) > 0 {
		server = append(server, map[string]string{"key": "feature-gates", "value": strings.Join(gates, ",")})
	}
	if c.gates != "" {
		manager = append(manager, map[string]string{"key": "feature-gates", "value": c.gates})
	}
	if has(c.bin, "kube-controller-manager") {
		// By default, it deletes pods that have ended if there are more than 12,500.
		manager = append(manager, map[string]string{"key": "terminated-pod-gc-threshold", "value": "0"})
	}
	// A Job of 100,000 pods fills etcd's default quota of 2 GiB before the first compaction.
	quota := []map[string]string{{"key": "quota-backend-bytes", "value": strconv.Itoa(8 << 30)}}
	// Nodes that other tools add have their own kubelets. A Lease of the node held by such a kubelet is not enough:
	// kwok ignores it for pods if it starts their controller before the node controller.
	ours := []map[string]string{
		{"key": "manage-all-nodes", "value": "false"},
		{"key": "manage-nodes-with-annotation-selector", "value": kwokNode + "=fake"},
	}
	return []any{
		map[string]any{"name": "etcd", "extraArgs": quota},
		map[string]any{"name": "kwok-controller", "extraArgs": ours},
		map[string]any{"name": "kube-apiserver", "extraArgs": server},
		map[string]any{"name": "kube-controller-manager", "extraArgs": manager},
	}
}

// environment limits kwokctl to this cluster's directory and binaries, regardless of the user's KUBECONFIG and KWOK_
// settings.
func (c *cluster) environment(inherited []string) []string {
	var env []string
	for _, v := range inherited {
		if !strings.HasPrefix(v, "KWOK_") && !strings.HasPrefix(v, "KUBECONFIG=") && !strings.HasPrefix(v, "PATH=") {
			env = append(env, v)
		}
	}
	return append(env, "KWOK_WORKDIR="+c.kwok, "KUBECONFIG="+c.kubeconfig,
		"KUBECACHEDIR="+filepath.Join(c.kwok, "kubectl-cache"),
		"PATH="+c.bin+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// freePorts finds unused ports on loopback. They are below the ephemeral ports, so that no outgoing connection takes
// one first, and begin at random, so that two calls rarely collide.
func freePorts(n int) ([]int, error) {
	const first, count = 20000, 12000
	start := rand.IntN(count)
	var ports []int
	for i := 0; i < count && len(ports) < n; i++ {
		port := first + (start+i)%count
		// The same port must be free on all addresses too: kwokctl checks that.
		l, err := net.Listen("tcp", fmt.Sprintf(":%d", port))
		if err != nil {
			continue
		}
		l.Close()
		ports = append(ports, port)
	}
	if len(ports) < n {
		return nil, errors.New("no free ports between 20000 and 32000")
	}
	return ports, nil
}

// down stops and removes the cluster, if there is one.
func (c *cluster) down(ctx context.Context) error {
	if !exists(c.dir) {
		// The directory may have been removed while the cluster still runs.
		fmt.Fprintln(c.out, "There is no cluster.")
		return stopProcesses(c.dir)
	}
	unlock, err := c.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	existed := exists(c.kwok)
	if err := c.remove(); err != nil {
		return err
	}
	for _, name := range []string{".gitignore", "lock"} {
		if err := os.Remove(filepath.Join(c.dir, name)); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	_ = os.Remove(c.dir) // kept if it has other files
	if existed {
		fmt.Fprintln(c.out, "The cluster is gone.")
	} else {
		fmt.Fprintln(c.out, "There is no cluster.")
	}
	return nil
}

// remove stops all processes and deletes all state.
func (c *cluster) remove() error {
	if err := stopProcesses(c.dir); err != nil {
		return err
	}
	for _, path := range []string{c.kwok, c.kubeconfig, c.kubeconfig + ".lock", filepath.Join(c.dir, "kwok-config.yaml"), c.auditPolicy(), filepath.Join(c.dir, "audit.log")} {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	return nil
}
