package podspec

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lint/phrase"
)

// handler is the action of a probe or a lifecycle hook.
type handler struct {
	exec    *corev1.ExecAction
	http    *corev1.HTTPGetAction
	tcp     *corev1.TCPSocketAction
	grpc    *corev1.GRPCAction
	sleeper *corev1.SleepAction
}

// checkHandlers checks the probes and hooks of a container that runs alongside others.
func checkHandlers(found *problems, container *corev1.Container, path *field.Path) {
	checkProbe(found, container.LivenessProbe, path.Child("livenessProbe"), true)
	checkProbe(found, container.ReadinessProbe, path.Child("readinessProbe"), false)
	checkProbe(found, container.StartupProbe, path.Child("startupProbe"), true)
	if container.Lifecycle != nil {
		checkHook(found, container.Lifecycle.PostStart, path.Child("lifecycle", "postStart"))
		checkHook(found, container.Lifecycle.PreStop, path.Child("lifecycle", "preStop"))
	}
}

func checkHook(found *problems, hook *corev1.LifecycleHandler, path *field.Path) {
	if hook != nil {
		checkHandler(found, handler{exec: hook.Exec, http: hook.HTTPGet, tcp: hook.TCPSocket, sleeper: hook.Sleep}, path)
	}
}

// checkNoHandlers finds probes and hooks of an init container that is not a sidecar: it has to end, not to become
// ready.
func checkNoHandlers(found *problems, container *corev1.Container, path *field.Path) {
	const fix = "remove it, or add restartPolicy: Always if the container is a sidecar"
	for _, f := range []struct {
		name string
		set  bool
	}{
		{"livenessProbe", container.LivenessProbe != nil},
		{"readinessProbe", container.ReadinessProbe != nil},
		{"startupProbe", container.StartupProbe != nil},
		{"lifecycle", container.Lifecycle != nil},
	} {
		if f.set {
			found.add("probe-of-init-container", path.Child(f.name), fix, "an init container that is not a sidecar cannot have %s", f.name)
		}
	}
}

// checkProbe checks a probe; if it restarts containers, its successThreshold must be 1.
func checkProbe(found *problems, probe *corev1.Probe, path *field.Path, restarts bool) {
	if probe == nil {
		return
	}
	checkHandler(found, handler{exec: probe.Exec, http: probe.HTTPGet, tcp: probe.TCPSocket, grpc: probe.GRPC}, path)
	for _, f := range []struct {
		name  string
		value int32
	}{
		{"initialDelaySeconds", probe.InitialDelaySeconds},
		{"timeoutSeconds", probe.TimeoutSeconds},
		{"periodSeconds", probe.PeriodSeconds},
		{"successThreshold", probe.SuccessThreshold},
		{"failureThreshold", probe.FailureThreshold},
	} {
		if f.value < 0 {
			found.add("probe-invalid", path.Child(f.name), "use 1 or more", "%s is %d", f.name, f.value)
		}
	}
	if restarts && probe.SuccessThreshold > 1 {
		found.add("probe-invalid", path.Child("successThreshold"), "use 1, or remove it", "successThreshold of a %s must be 1", phrase.Last(path))
	}
	switch period := probe.TerminationGracePeriodSeconds; {
	case period != nil && !restarts:
		found.add("probe-invalid", path.Child("terminationGracePeriodSeconds"), "remove it", "a %s restarts nothing, so it cannot have terminationGracePeriodSeconds", phrase.Last(path))
	case period != nil && *period <= 0:
		found.add("probe-invalid", path.Child("terminationGracePeriodSeconds"), "use 1 or more", "terminationGracePeriodSeconds is %d", *period)
	}
}

func checkHandler(found *problems, h handler, path *field.Path) {
	count := 0
	for _, set := range []bool{h.exec != nil, h.http != nil, h.tcp != nil, h.grpc != nil, h.sleeper != nil} {
		if set {
			count++
		}
	}
	switch {
	case count == 0:
		found.add("probe-invalid", path, "add exec, httpGet or tcpSocket", "%s does nothing", phrase.Last(path))
	case count > 1:
		found.add("probe-invalid", path, "remove all but one", "%s can do only one thing, but has %d", phrase.Last(path), count)
	}
	if h.exec != nil && len(h.exec.Command) == 0 {
		found.add("probe-invalid", path.Child("exec", "command"), "add the command", "exec has no command")
	}
	if h.http != nil {
		checkPort(found, h.http.Port, path.Child("httpGet", "port"))
		oneOf(found, "probe-invalid", path.Child("httpGet", "scheme"), h.http.Scheme, corev1.URISchemeHTTP, corev1.URISchemeHTTPS)
	}
	if h.tcp != nil {
		checkPort(found, h.tcp.Port, path.Child("tcpSocket", "port"))
	}
	if h.grpc != nil {
		checkPort(found, intstr.FromInt32(h.grpc.Port), path.Child("grpc", "port"))
	}
}

func checkPort(found *problems, port intstr.IntOrString, path *field.Path) {
	if port.Type == intstr.Int && len(validation.IsValidPortNum(port.IntValue())) > 0 ||
		port.Type == intstr.String && len(validation.IsValidPortName(port.StrVal)) > 0 {
		found.add("port-invalid", path, "use 1 to 65535, or the name of a port", "%s is not a port: %s", phrase.Last(path), shorten(port.String()))
	}
}
