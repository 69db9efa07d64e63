package play

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/test/world/recorded"
)

// Kubelet serves the logs of all cases on this machine, as the API server requests them from the kubelet of a node.
type Kubelet struct {
	server *httptest.Server

	mu sync.Mutex
	// of maps namespaces to their logs.
	of map[string][]recorded.Log
}

// NewKubelet starts the server.
func NewKubelet() *Kubelet {
	k := &Kubelet{of: map[string][]recorded.Log{}}
	k.server = httptest.NewTLSServer(http.HandlerFunc(k.serve))
	return k
}

// Close stops the server.
func (k *Kubelet) Close() { k.server.Close() }

// Endpoint sets the server's address in the status of a node.
func (k *Kubelet) Endpoint(node *corev1.NodeStatus) {
	address := k.server.Listener.Addr().(*net.TCPAddr)
	node.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: address.IP.String()}}
	node.DaemonEndpoints.KubeletEndpoint.Port = int32(address.Port)
}

// Logs returns the logs of a namespace.
func (k *Kubelet) Logs(namespace string) []recorded.Log {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.of[namespace]
}

// serve answers a request for /containerLogs/NAMESPACE/POD/CONTAINER.
func (k *Kubelet) serve(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	if len(parts) != 4 || parts[0] != "containerLogs" {
		http.NotFound(w, r)
		return
	}
	text, ok := recorded.LogText(k.Logs(parts[1]), parts[2], parts[3], r.URL.Query())
	if !ok {
		http.NotFound(w, r)
		return
	}
	_, _ = w.Write([]byte(text)) // The API server detects an incomplete answer.
}

func (p *Player) log(ctx context.Context, l Log) error {
	pod, err := p.pod(ctx, l.Pod)
	if err != nil {
		return err
	}
	if !hasContainer(pod, l.Container) {
		return fmt.Errorf("pod %s has no container %s", pod.Name, l.Container)
	}
	p.logs = append(p.logs, recorded.Log{Pod: pod.Name, Container: l.Container, Previous: l.Previous, Text: p.expand(l.Text, pod.Name), At: time.Now().Add(-l.Age.Duration)})
	return nil
}

// serveLogs gives the played logs to the kubelet, without those of deleted pods. A container that waits to be restarted has no
// later log.
func (p *Player) serveLogs(ctx context.Context) error {
	if len(p.logs) == 0 {
		return nil
	}
	list, err := p.Client.CoreV1().Pods(p.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	var served []recorded.Log
	for _, log := range p.logs {
		i := slices.IndexFunc(list.Items, func(pod corev1.Pod) bool { return pod.Name == log.Pod })
		if i < 0 {
			continue
		}
		if node := list.Items[i].Spec.NodeName; node != p.Node {
			return fmt.Errorf("the log of pod %s cannot be read: no kubelet serves it on node %s", log.Pod, node)
		}
		served = append(served, log)
		if log.Previous && waits(&list.Items[i], log.Container) {
			log.Previous = false
			served = append(served, log)
		}
	}
	p.Kubelet.mu.Lock()
	defer p.Kubelet.mu.Unlock()
	p.Kubelet.of[p.Namespace] = served
	return nil
}

func hasContainer(pod *corev1.Pod, name string) bool {
	return slices.ContainsFunc(slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers), func(c corev1.Container) bool { return c.Name == name })
}

// waits reports whether a container is in the state waiting.
func waits(pod *corev1.Pod, container string) bool {
	return slices.ContainsFunc(slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses), func(c corev1.ContainerStatus) bool {
		return c.Name == container && c.State.Waiting != nil
	})
}
