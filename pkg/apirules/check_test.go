package apirules

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// look returns the problems of a template as id and field below spec.
func look(t *testing.T, template string, volumes []string) []string {
	t.Helper()
	var read corev1.PodTemplateSpec
	assert.NoError(t, yaml.UnmarshalStrict([]byte(template), &read), template)
	var got []string
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&read)
	assert.NoError(t, err)
	for _, p := range Check(&read, content, field.NewPath("template"), volumes) {
		got = append(got, p.ID+" "+strings.TrimPrefix(p.Path.String(), "template."))
		if p.Message == "" || p.Fix == "" || strings.Contains(p.Message+p.Fix, "\n") {
			t.Errorf("%s: %+v", template, p)
		}
	}
	return got
}

// Each problem separately; test/cluster/integration compares many more with a real API server.
// Requirements: LNT-01
func TestProblemsOfAPodTemplateHaveTheirField(t *testing.T) {
	for template, want := range map[string]string{
		"spec: {containers: []}":                                               "no-containers spec.containers",
		"spec: {containers: [{image: i}]}":                                     "container-without-name spec.containers[0].name",
		"spec: {containers: [{name: a}]}":                                      "container-without-image spec.containers[0].image",
		"spec: {containers: [{name: A, image: i}]}":                            "container-name-invalid spec.containers[0].name",
		"metadata: {labels: {a: b c}}\n" + plain(""):                           "label-invalid metadata.labels[a]",
		"metadata: {annotations: {a b: c}}\n" + plain(""):                      "annotation-invalid metadata.annotations[a b]",
		plain("", "volumes: [{emptyDir: {}}]"):                                 "volume-without-name spec.volumes[0].name",
		plain("", "volumes: [{name: A}]"):                                      "volume-name-invalid spec.volumes[0].name",
		plain("", "volumes: [{name: a}, {name: a}]"):                           "volume-name-twice spec.volumes[1].name",
		plain("", "volumes: [{name: a, secret: {}}]"):                          "volume-incomplete spec.volumes[0].secret.secretName",
		plain("volumeMounts: [{name: a, mountPath: /a}]"):                      "mount-without-volume spec.containers[0].volumeMounts[0].name",
		plain("restartPolicy: always"):                                         "container-restart-policy-unknown spec.containers[0].restartPolicy",
		plain("ports: [{name: HTTP, containerPort: 80}]"):                      "port-name-invalid spec.containers[0].ports[0].name",
		plain("ports: [{name: http}]"):                                         "port-invalid spec.containers[0].ports[0].containerPort",
		plain("env: [{value: a}]"):                                             "env-without-name spec.containers[0].env[0].name",
		plain("env: [{name: a=b}]"):                                            "env-name-invalid spec.containers[0].env[0].name",
		plain("env: [{name: A, valueFrom: {}}]"):                               "env-source-missing spec.containers[0].env[0].valueFrom",
		plain("envFrom: [{}]"):                                                 "env-source-missing spec.containers[0].envFrom[0]",
		plain("envFrom: [{secretRef: {}}]"):                                    "reference-without-name spec.containers[0].envFrom[0].secretRef.name",
		plain("envFrom: [{secretRef: {name: A}}]"):                             "reference-name-invalid spec.containers[0].envFrom[0].secretRef.name",
		plain("resources: {limits: {gpu: 1}}"):                                 "resource-unknown spec.containers[0].resources.limits[gpu]",
		plain("resources: {limits: {cpu: -1}}"):                                "resource-negative spec.containers[0].resources.limits[cpu]",
		plain("resources: {limits: {a.b/gpu: 500m}}"):                          "resource-not-whole spec.containers[0].resources.limits[a.b/gpu]",
		plain("resources: {requests: {a.b/gpu: 1}}"):                           "request-without-limit spec.containers[0].resources.requests[a.b/gpu]",
		plain("resources: {requests: {cpu: 2}, limits: {cpu: 1}}"):             "request-above-limit spec.containers[0].resources.requests[cpu]",
		plain("resources: {claims: [{name: a}]}"):                              "claim-unknown spec.containers[0].resources.claims[0].name",
		plain("livenessProbe: {}"):                                             "probe-invalid spec.containers[0].livenessProbe",
		plain("livenessProbe: {tcpSocket: {port: 0}}"):                         "port-invalid spec.containers[0].livenessProbe.tcpSocket.port",
		plain("securityContext: {runAsUser: -1}"):                              "user-id-invalid spec.containers[0].securityContext.runAsUser",
		plain("", "activeDeadlineSeconds: 0"):                                  "pod-deadline-invalid spec.activeDeadlineSeconds",
		plain("", "hostname: A"):                                               "hostname-invalid spec.hostname",
		plain("", "serviceAccountName: A"):                                     "reference-name-invalid spec.serviceAccountName",
		plain("", "dnsPolicy: None"):                                           "dns-without-servers spec.dnsConfig",
		plain("", "nodeSelector: {a: b c}"):                                    "node-selector-invalid spec.nodeSelector[a]",
		plain("", "topologySpreadConstraints: [{maxSkew: 1, topologyKey: a}]"): "spread-invalid spec.topologySpreadConstraints[0].whenUnsatisfiable",
		plain("", "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: []}}}"): "affinity-invalid spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms",
		plain("", "initContainers: [{name: a, image: i}]"):                                                               "container-name-twice spec.initContainers[0].name",
		plain("", "initContainers: [{name: b, image: i, livenessProbe: {exec: {command: [a]}}}]"):                        "probe-of-init-container spec.initContainers[0].livenessProbe",
		plain("env: [{name: A, value: b, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]"):                           "env-value-and-source spec.containers[0].env[0].valueFrom",
		plain("env: [{name: A, valueFrom: {fieldRef: {fieldPath: status.phase}}}]"):                                      "field-ref-invalid spec.containers[0].env[0].valueFrom.fieldRef.fieldPath",
		plain("env: [{name: A, valueFrom: {secretKeyRef: {name: b}}}]"):                                                  "env-source-incomplete spec.containers[0].env[0].valueFrom.secretKeyRef.key",
		plain("volumeMounts: [{name: v}]", "volumes: [{name: v}]"):                                                       "mount-without-path spec.containers[0].volumeMounts[0].mountPath",
		plain("volumeMounts: [{name: v, mountPath: /a}, {name: v, mountPath: /a}]", "volumes: [{name: v}]"):              "mount-path-twice spec.containers[0].volumeMounts[1].mountPath",
		plain("volumeMounts: [{name: v, mountPath: /a, subPath: /b}]", "volumes: [{name: v}]"):                           "mount-sub-path-invalid spec.containers[0].volumeMounts[0].subPath",
		plain("", "volumes: [{name: a, emptyDir: {}, configMap: {name: b}}]"):                                            "volume-of-two-types spec.volumes[0].configMap",
		plain("", "volumes: [{name: a, configMap: {name: b, defaultMode: 644}}]"):                                        "file-mode-invalid spec.volumes[0].configMap.defaultMode",
		plain("ports: [{containerPort: 80, hostPort: 81}]", "hostNetwork: true"):                                         "host-port-differs spec.containers[0].ports[0].hostPort",
	} {
		assert.SlicesEqual(t, look(t, template, nil), []string{want}, template)
	}
}

// plain returns a template with one container, with these fields of the container and of the pod.
func plain(container string, pod ...string) string {
	text := "spec:\n  containers:\n  - name: a\n    image: i\n"
	if container != "" {
		text += "    " + container + "\n"
	}
	for _, line := range pod {
		text += "  " + line + "\n"
	}
	return text
}

// JobSet adds volumes for its volumeClaimPolicies.
// Requirements: LNT-01
func TestVolumesOfAControllerMayBeMounted(t *testing.T) {
	template := plain("volumeMounts: [{name: data, mountPath: /data}, {name: other, mountPath: /other}]")
	want := []string{"mount-without-volume spec.containers[0].volumeMounts[1].name"}
	assert.SlicesEqual(t, look(t, template, []string{"data"}), want)
}

// A sidecar may have probes, and the request of a native resource may be below its limit.
// Requirements: LNT-01
func TestValidTemplatesHaveNoProblems(t *testing.T) {
	for _, template := range []string{
		plain(""),
		plain("", "initContainers: [{name: b, image: i, restartPolicy: Always, readinessProbe: {httpGet: {port: http}}}]"),
		plain("resources: {requests: {cpu: 1, memory: 1Gi}, limits: {cpu: 2, memory: 1Gi, nvidia.com/gpu: 1}}"),
		plain("env: [{name: my.var-1, value: b}, {name: B, valueFrom: {fieldRef: {fieldPath: \"metadata.labels['a']\"}}}]"),
		plain("", "tolerations: [{operator: Exists}, {key: a, effect: NoExecute, tolerationSeconds: 5}]"),
		"metadata: {labels: {app.kubernetes.io/name: a, empty: ''}, annotations: {Example.com/Key: any text}}\n" + plain(""),
	} {
		if got := look(t, template, nil); got != nil {
			t.Errorf("%s\n%q", template, got)
		}
	}
}
