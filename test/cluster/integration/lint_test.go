package integration

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/batchjob-dev/kubectl-batchjob/internal/manifest"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lint"
)

// lintBase is a Job without findings.
const lintBase = `
metadata: {name: a}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: i}]
      initContainers: [{name: init, image: i}]
`

// lintChanges returns changes of the spec of lintBase.
func lintChanges() []string {
	changes := []string{
		`{}`, `{parallelism: -1}`, `{completions: -1}`, `{backoffLimit: -1}`, `{ttlSecondsAfterFinished: -1}`, `{activeDeadlineSeconds: -1}`,
		`{parallelism: 0}`, `{completions: 0}`, `{activeDeadlineSeconds: 0}`, `{ttlSecondsAfterFinished: 0}`, `{suspend: true}`,
		`{completionMode: Indexed}`, `{completionMode: Indexed, completions: 5}`, `{completionMode: Indexed, parallelism: 2}`, `{completionMode: indexed}`,
		`{completionMode: ""}`, `{completionMode: NonIndexed}`, `{completionMode: Indexed, completions: 5, parallelism: 100000}`,
		`{completionMode: Indexed, completions: 5, parallelism: 100001}`, `{parallelism: 100001}`,
		`{backoffLimitPerIndex: 1}`, `{backoffLimitPerIndex: -1}`, `{backoffLimitPerIndex: 1, backoffLimit: 0}`, `{maxFailedIndexes: 0}`, `{maxFailedIndexes: -1}`, `{maxFailedIndexes: 5}`,
		`{maxFailedIndexes: 6}`, `{maxFailedIndexes: 100001}`, `{maxFailedIndexes: 10001}`, `{completionMode: Indexed, completions: 100000}`, `{completionMode: Indexed, completions: 100001}`,
		`{parallelism: 10001}`, `{parallelism: 10000}`,
		`{completionMode: Indexed, completions: 100000, parallelism: 100000, backoffLimitPerIndex: 1, maxFailedIndexes: 100000}`,
		`{completionMode: Indexed, completions: 100001, backoffLimitPerIndex: 1}`, `{completionMode: Indexed, completions: 2147483647, parallelism: 10000, backoffLimitPerIndex: 1, maxFailedIndexes: 10000}`,
		`{completionMode: Indexed, completions: 100001, backoffLimitPerIndex: 1, maxFailedIndexes: 10001}`, `{completionMode: Indexed, completions: 100001, parallelism: 10001, backoffLimitPerIndex: 1, maxFailedIndexes: 10000}`,
		`{managedBy: a}`, `{managedBy: ""}`, `{managedBy: a.b/c}`, `{managedBy: a_b/c}`, `{managedBy: kubernetes.io/job-controller}`,
		`{managedBy: a.b/` + strings.Repeat("x", 59) + `}`, `{managedBy: a.b/` + strings.Repeat("x", 60) + `}`,
		`{podReplacementPolicy: Failed}`, `{podReplacementPolicy: TerminatingOrFailed}`, `{podReplacementPolicy: failed}`, `{podReplacementPolicy: ""}`,
		`{successPolicy: {}}`, `{successPolicy: {rules: []}}`, `{successPolicy: {rules: [{}]}}`,
		`{template: {spec: {restartPolicy: OnFailure}}}`, `{template: {spec: {restartPolicy: Always}}}`, `{template: {spec: {restartPolicy: null}}}`, `{template: {spec: {restartPolicy: Maybe}}}`,
		`{template: {spec: {containers: []}}}`, `{template: {spec: {containers: [{name: main}]}}}`, `{template: {spec: {containers: [{image: i}]}}}`,
		`{template: {spec: {containers: [{name: Main, image: i}]}}}`, `{template: {spec: {containers: [{name: a.b, image: i}]}}}`, `{template: {spec: {containers: [{name: ` + strings.Repeat("a", 64) + `, image: i}]}}}`,
		`{template: {spec: {containers: [{name: a, image: i}, {name: a, image: i}]}}}`, `{template: {spec: {containers: [{name: init, image: i}]}}}`, `{template: {spec: {initContainers: [{name: a}]}}}`,
		`{template: {spec: {initContainers: [{image: i}]}}}`, `{template: {spec: {initContainers: [{name: A_, image: i}]}}}`, `{template: {spec: {initContainers: [{name: b, image: i}, {name: b, image: i}]}}}`,
		`{template: {metadata: {labels: {controller-uid: x}}}}`, `{template: {metadata: {labels: {controller-uid: ""}}}}`, `{template: {metadata: {labels: {batch.kubernetes.io/controller-uid: x}}}}`,
		`{template: {metadata: {labels: {job-name: a}}}}`, `{template: {metadata: {labels: {job-name: b}}}}`, `{template: {metadata: {labels: {batch.kubernetes.io/job-name: a}}}}`, `{template: {metadata: {labels: {batch.kubernetes.io/job-name: b}}}}`,
		`{template: {metadata: {labels: {batch.kubernetes.io/other: b}}}}`, `{manualSelector: true, selector: {matchLabels: {job-name: b}}, template: {metadata: {labels: {job-name: b}}}}`,
		`{selector: {matchLabels: {job-name: a}}}`, `{selector: {matchLabels: {batch.kubernetes.io/job-name: a}}}`, `{selector: {matchLabels: {job-name: b}}}`,
		`{selector: {matchExpressions: [{key: job-name, operator: Exists}]}}`, `{selector: {matchExpressions: [{key: job-name, operator: In, values: [a, b]}]}}`,
		`{selector: {matchExpressions: [{key: job-name, operator: NotIn, values: [a]}]}}`, `{selector: {matchExpressions: [{key: controller-uid, operator: Exists}]}}`,
		`{selector: {matchLabels: {controller-uid: x}}}`, `{selector: {matchLabels: {job-name: a, app: b}}, template: {metadata: {labels: {app: b}}}}`,
		`{selector: {matchExpressions: [{key: job-name, operator: is}]}}`, `{manualSelector: true, selector: {matchLabels: {a: "-"}}, template: {metadata: {labels: {a: b}}}}`,
		`{selector: {}}`, `{selector: {matchLabels: {a: b}}}`, `{manualSelector: true}`, `{manualSelector: true, selector: {matchLabels: {a: b}}}`,
		`{manualSelector: true, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}}}`, `{manualSelector: true, selector: {}}`,
		`{unknown: 1}`, `{backoffLimit: "3"}`, `{template: {spec: {retries: 1}}}`, `{podFailurePolicy: {}}`, `{podFailurePolicy: {rules: []}}`,
		`{podFailurePolicy: {rules: [{action: Count}]}}`, `{podFailurePolicy: {rules: [` + strings.Repeat(`{action: Count, onExitCodes: {operator: In, values: [1]}},`, 20) + `]}}`,
		`{podFailurePolicy: {rules: [` + strings.Repeat(`{action: Count, onExitCodes: {operator: In, values: [1]}},`, 21) + `]}}`,
	}
	for _, action := range []string{"FailJob", "FailIndex", "Ignore", "Count", "Retry", `""`} {
		changes = append(changes, `{podFailurePolicy: {rules: [{action: `+action+`, onExitCodes: {operator: NotIn, values: [0]}}]}}`)
	}
	for _, on := range []string{
		`{operator: In, values: [1]}`, `{operator: In, values: [1, 2, 3]}`, `{operator: In, values: [0]}`, `{operator: NotIn, values: [0]}`, `{operator: NotIn, values: [0, 1]}`,
		`{operator: In, values: []}`, `{operator: In}`, `{values: [1]}`, `{operator: in, values: [1]}`, `{operator: In, values: [2, 1]}`, `{operator: In, values: [1, 1]}`,
		`{operator: In, values: [-1, 300]}`, `{containerName: main, operator: In, values: [1]}`, `{containerName: init, operator: In, values: [1]}`,
		`{containerName: nope, operator: In, values: [1]}`, `{containerName: "", operator: In, values: [1]}`, `{operator: In, values: [` + numbers(255) + `]}`, `{operator: In, values: [` + numbers(256) + `]}`,
	} {
		changes = append(changes, `{podFailurePolicy: {rules: [{action: Count, onExitCodes: `+on+`}]}}`)
	}
	for _, on := range []string{
		`[{type: DisruptionTarget}]`, `[{type: DisruptionTarget, status: "False"}]`, `[{type: DisruptionTarget, status: "Yes"}]`, `[{type: ""}]`, `[{type: a/b/c}]`, `[]`,
		`[{type: A}], onExitCodes: {operator: In, values: [1]}`, `[` + strings.Repeat(`{type: A},`, 20) + `]`, `[` + strings.Repeat(`{type: A},`, 21) + `]`,
	} {
		changes = append(changes, `{podFailurePolicy: {rules: [{action: Ignore, onPodConditions: `+on+`}]}}`)
	}
	for _, rule := range []string{
		`succeededCount: 1`, `succeededCount: 0`, `succeededCount: -1`, `succeededCount: 5`, `succeededCount: 6`, `succeededIndexes: ""`, `succeededIndexes: "", succeededCount: 0`,
		`succeededIndexes: "", succeededCount: 1`, `succeededIndexes: "0"`, `succeededIndexes: "4"`, `succeededIndexes: "5"`, `succeededIndexes: "0-4"`, `succeededIndexes: "0-5"`,
		`succeededIndexes: "1,2,3"`, `succeededIndexes: "1-2,2"`, `succeededIndexes: "2,1"`, `succeededIndexes: "3-3"`, `succeededIndexes: "3-1"`, `succeededIndexes: "1-2-3"`,
		`succeededIndexes: "a"`, `succeededIndexes: "1,"`, `succeededIndexes: " 1"`, `succeededIndexes: "+1,02"`, `succeededIndexes: "-1"`, `succeededIndexes: "1-"`,
		`succeededIndexes: "1,3", succeededCount: 2`, `succeededIndexes: "1,3", succeededCount: 3`, `succeededIndexes: "` + strings.Repeat("0", 64<<10) + `"`,
		`succeededIndexes: "` + strings.Repeat("0", 64<<10+1) + `"`,
	} {
		changes = append(changes, `{completionMode: Indexed, completions: 5, successPolicy: {rules: [{`+rule+`}]}}`)
	}
	changes = append(changes, podChanges()...)
	return append(changes,
		`{completionMode: Indexed, completions: 5, successPolicy: {rules: [`+strings.Repeat(`{succeededCount: 1},`, 20)+`]}}`,
		`{completionMode: Indexed, completions: 5, successPolicy: {rules: [`+strings.Repeat(`{succeededCount: 1},`, 21)+`]}}`,
	)
}

// podChanges returns changes of the pod template: of its spec, of a container, and of an init container.
func podChanges() []string {
	var changes []string
	for _, pod := range []string{
		`volumes: [{name: a}]`, `volumes: [{name: A}]`, `volumes: [{emptyDir: {}}]`, `volumes: [{name: a}, {name: a}]`, `volumes: [{name: a, emptyDir: {}, configMap: {name: b}}]`,
		`volumes: [{name: a, configMap: {}}]`, `volumes: [{name: a, secret: {}}]`, `volumes: [{name: a, secret: {secretName: b}}]`, `volumes: [{name: a, secret: {name: b}}]`,
		`volumes: [{name: a, persistentVolumeClaim: {}}]`, `volumes: [{name: a, persistentVolumeClaim: {claimName: b}}]`, `volumes: [{name: a, hostPath: {}}]`, `volumes: [{name: a, hostPath: {path: /b}}]`,
		`volumes: [{name: a, nfs: {server: b}}]`, `volumes: [{name: a, nfs: {path: /b}}]`, `volumes: [{name: a, nfs: {server: b, path: /c}}]`, `volumes: [{name: a, csi: {driver: b.c}}]`, `volumes: [{name: a, csi: {}}]`,
		`volumes: [{name: a, ephemeral: {}}]`, `volumes: [{name: a, emptyDir: {sizeLimit: -1}}]`, `volumes: [{name: a, emptyDir: {sizeLimit: 1Gi, medium: Memory}}]`,
		`volumes: [{name: a, configMap: {name: b, defaultMode: 511}}]`, `volumes: [{name: a, configMap: {name: b, defaultMode: 512}}]`, `volumes: [{name: a, secret: {secretName: b, defaultMode: 777}}]`,
		`volumes: [{name: a, configMap: {name: b, items: [{key: c, path: d}]}}]`, `volumes: [{name: a, configMap: {name: b, items: [{key: c}]}}]`, `volumes: [{name: a, configMap: {name: b, items: [{path: c}]}}]`,
		`volumes: [{name: a, configMap: {name: b, items: [{key: c, path: /d}]}}]`, `volumes: [{name: a, configMap: {name: b, items: [{key: c, path: d/../e}]}}]`, `volumes: [{name: a, configMap: {name: b, items: [{key: c, path: d, mode: 512}]}}]`,
		`activeDeadlineSeconds: 0`, `activeDeadlineSeconds: 1`, `activeDeadlineSeconds: 2147483648`, `hostname: a`, `hostname: a.b`, `subdomain: A`, `dnsPolicy: None`, `dnsPolicy: Default`, `dnsPolicy: default`,
		`dnsPolicy: None, dnsConfig: {nameservers: [1.1.1.1]}`, `serviceAccountName: a`, `serviceAccountName: a_b`, `nodeName: A`, `priorityClassName: a b`, `runtimeClassName: a`, `runtimeClassName: A`,
		`securityContext: {runAsUser: -1}`, `securityContext: {runAsUser: 1000, runAsGroup: 0}`, `shareProcessNamespace: true, hostPID: true`, `hostAliases: [{ip: 1.2.3.4, hostnames: [a]}]`, `hostAliases: [{ip: a}]`,
		`terminationGracePeriodSeconds: 0`, `ephemeralContainers: [{name: e, image: i}]`, `imagePullSecrets: [{name: a}]`,
		`nodeSelector: {a: b}`, `nodeSelector: {a/b/c: d}`, `nodeSelector: {a: "b c"}`,
		`tolerations: [{operator: Exists}]`, `tolerations: [{key: a, operator: Equal, value: b, effect: NoSchedule}]`, `tolerations: [{key: a}]`, `tolerations: [{effect: NoSchedule}]`, `tolerations: [{key: a, operator: Exists, value: b}]`,
		`tolerations: [{key: a, operator: exists}]`, `tolerations: [{key: a, effect: Noexecute}]`, `tolerations: [{key: a, value: "b c"}]`, `tolerations: [{key: "a b"}]`, `tolerations: [{key: a, tolerationSeconds: 5}]`,
		`tolerations: [{key: a, effect: NoExecute, tolerationSeconds: 5}]`,
		`topologySpreadConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: ScheduleAnyway}]`, `topologySpreadConstraints: [{topologyKey: a, whenUnsatisfiable: ScheduleAnyway}]`,
		`topologySpreadConstraints: [{maxSkew: 1, whenUnsatisfiable: ScheduleAnyway}]`, `topologySpreadConstraints: [{maxSkew: 1, topologyKey: a}]`, `topologySpreadConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: Never}]`,
		`topologySpreadConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: ScheduleAnyway}, {maxSkew: 2, topologyKey: a, whenUnsatisfiable: ScheduleAnyway}]`,
		`affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: []}}}`,
		`affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: In, values: [b]}]}]}}}`,
		`affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: In}]}]}}}`,
		`affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Exists, values: [b]}]}]}}}`,
		`affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Gt, values: ["1", "2"]}]}]}}}`,
		`affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: in, values: [b]}]}]}}}`,
		`affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 0, preference: {matchExpressions: [{key: a, operator: Exists}]}}]}}`,
		`affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 100, preference: {matchExpressions: [{key: a, operator: Exists}]}}]}}`,
		`affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {a: b}}}]}}`,
		`affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{labelSelector: {matchLabels: {a: b}}}]}}`,
		`affinity: {podAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 101, podAffinityTerm: {topologyKey: a, labelSelector: {matchLabels: {a: b}}}}]}}`,
		`affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a, labelSelector: {matchExpressions: [{key: a, operator: In}]}}]}}`,
		`hostNetwork: true, containers: [{name: main, image: i, ports: [{containerPort: 80, hostPort: 81}]}]`, `hostNetwork: true, containers: [{name: main, image: i, ports: [{containerPort: 80}]}]`,
		`containers: [{name: main, image: i, ports: [{containerPort: 80, hostPort: 81}]}, {name: b, image: i, ports: [{containerPort: 82, hostPort: 81}]}]`,
		`containers: [{name: main, image: i, ports: [{containerPort: 80, hostPort: 81}, {containerPort: 80, hostPort: 81, protocol: UDP}]}]`,
		`resourceClaims: [{name: gpu, resourceClaimName: b}], containers: [{name: main, image: i, resources: {claims: [{name: gpu}]}}]`,
		`containers: [{name: main, image: i, resources: {claims: [{name: gpu}]}}]`,
	} {
		changes = append(changes, `{template: {spec: {`+pod+`}}}`)
	}
	for _, metadata := range []string{
		`labels: {a: b}`, `labels: {a/b/c: d}`, `labels: {a: "b c"}`, `labels: {a: ""}`, `labels: {"": a}`, `labels: {a: ` + strings.Repeat("x", 64) + `}`, `annotations: {a: "b c"}`, `annotations: {"a b": c}`, `annotations: {A/B: c}`,
	} {
		changes = append(changes, `{template: {metadata: {`+metadata+`}}}`)
	}
	for _, container := range []string{
		`imagePullPolicy: Always`, `imagePullPolicy: always`, `imagePullPolicy: ""`, `terminationMessagePolicy: FallbackToLogsOnError`, `terminationMessagePolicy: logs`,
		`restartPolicy: Always`, `restartPolicy: Never`, `restartPolicy: OnFailure`, `restartPolicy: always`, `restartPolicyRules: [{action: Restart, exitCodes: {operator: In, values: [1]}}]`,
		`ports: [{containerPort: 80}]`, `ports: [{containerPort: 0}]`, `ports: [{containerPort: 65536}]`, `ports: [{name: Http, containerPort: 80}]`, `ports: [{name: http, containerPort: 80}, {name: http, containerPort: 81}]`,
		`ports: [{name: a-name-that-is-long, containerPort: 80}]`, `ports: [{containerPort: 80, protocol: tcp}]`, `ports: [{containerPort: 80, hostPort: 70000}]`, `ports: [{containerPort: 80, hostPort: 1}, {containerPort: 81, hostPort: 1}]`,
		`env: [{name: A, value: b}]`, `env: [{name: A}, {name: A}]`, `env: [{value: b}]`, `env: [{name: "a=b"}]`, `env: [{name: "a b.c-1"}]`, `env: [{name: ä}]`, `env: [{name: A, valueFrom: {}}]`,
		`env: [{name: A, value: b, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]`, `env: [{name: A, value: "", valueFrom: {fieldRef: {fieldPath: metadata.name}}}]`,
		`env: [{name: A, valueFrom: {secretKeyRef: {name: b, key: c}}}]`, `env: [{name: A, valueFrom: {secretKeyRef: {name: b}}}]`, `env: [{name: A, valueFrom: {secretKeyRef: {key: c}}}]`, `env: [{name: A, valueFrom: {secretKeyRef: {name: B, key: c}}}]`,
		`env: [{name: A, valueFrom: {configMapKeyRef: {name: b, key: "c d"}}}]`, `env: [{name: A, valueFrom: {configMapKeyRef: {name: b, key: c}, secretKeyRef: {name: b, key: c}}}]`,
		`env: [{name: A, valueFrom: {fieldRef: {fieldPath: spec.host}}}]`, `env: [{name: A, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}]`, `env: [{name: A, valueFrom: {fieldRef: {fieldPath: status.phase}}}]`,
		`env: [{name: A, valueFrom: {fieldRef: {fieldPath: "metadata.labels['a']"}}}]`, `env: [{name: A, valueFrom: {fieldRef: {fieldPath: "metadata.annotations['batch.kubernetes.io/job-completion-index']"}}}]`,
		`env: [{name: A, valueFrom: {fieldRef: {fieldPath: "metadata.labels['a b']"}}}]`, `env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.labels}}}]`,
		`env: [{name: A, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}]`, `env: [{name: A, valueFrom: {resourceFieldRef: {resource: cpu}}}]`,
		`envFrom: [{secretRef: {name: a}}]`, `envFrom: [{}]`, `envFrom: [{secretRef: {}}]`, `envFrom: [{secretRef: {name: A}}]`, `envFrom: [{secretRef: {name: a}, configMapRef: {name: a}}]`, `envFrom: [{prefix: "=", secretRef: {name: a}}]`,
		`volumeMounts: [{name: gone, mountPath: /a}]`, `resources: {requests: {cpu: 2}, limits: {cpu: 1}}`, `resources: {requests: {cpu: 1}, limits: {cpu: 1}}`, `resources: {requests: {memory: 1Gi}, limits: {memory: 1G}}`,
		`resources: {requests: {cpu: -1}}`, `resources: {limits: {gpu: 1}}`, `resources: {limits: {nvidia.com/gpu: 1}}`, `resources: {requests: {nvidia.com/gpu: 1}}`, `resources: {limits: {nvidia.com/gpu: 500m}}`,
		`resources: {limits: {nvidia.com/gpu: 2}, requests: {nvidia.com/gpu: 1}}`, `resources: {limits: {ephemeral-storage: 1Gi}}`, `resources: {limits: {storage: 1Gi}}`, `resources: {limits: {requests.nvidia.com/gpu: 1}}`, `resources: {limits: {"a b": 1}}`,
		`resources: {requests: {memory: 100m}}`, `resources: {requests: {example.kubernetes.io/a: 2}, limits: {example.kubernetes.io/a: 3}}`,
		`securityContext: {runAsUser: -1}`, `securityContext: {privileged: true, allowPrivilegeEscalation: false}`, `securityContext: {runAsNonRoot: true, runAsUser: 1000}`,
		`livenessProbe: {exec: {command: [a]}}`, `livenessProbe: {}`, `livenessProbe: {exec: {}}`, `livenessProbe: {exec: {command: [a]}, tcpSocket: {port: 1}}`, `livenessProbe: {tcpSocket: {port: 0}}`, `livenessProbe: {tcpSocket: {port: http}}`,
		`livenessProbe: {tcpSocket: {port: "80"}}`, `livenessProbe: {httpGet: {path: /, port: 70000}}`, `livenessProbe: {httpGet: {port: 80, scheme: http}}`, `livenessProbe: {grpc: {port: 0}}`, `livenessProbe: {exec: {command: [a]}, successThreshold: 2}`,
		`readinessProbe: {exec: {command: [a]}, successThreshold: 2}`, `readinessProbe: {exec: {command: [a]}, terminationGracePeriodSeconds: 1}`, `startupProbe: {exec: {command: [a]}, periodSeconds: -1}`,
		`startupProbe: {exec: {command: [a]}, terminationGracePeriodSeconds: 0}`, `lifecycle: {preStop: {exec: {command: [a]}}}`, `lifecycle: {preStop: {}}`, `lifecycle: {postStart: {sleep: {seconds: 1}}}`, `lifecycle: {}`,
	} {
		changes = append(changes,
			`{template: {spec: {containers: [{name: main, image: i, `+container+`}]}}}`, `{template: {spec: {initContainers: [{name: init, image: i, `+container+`}]}}}`)
		if !strings.HasPrefix(container, "restartPolicy") {
			changes = append(changes, `{template: {spec: {initContainers: [{name: init, image: i, restartPolicy: Always, `+container+`}]}}}`)
		}
	}
	for _, mounts := range []string{
		`{name: v, mountPath: /a}`, `{name: v, mountPath: /a}, {name: v, mountPath: /b}`, `{name: v, mountPath: /a}, {name: v, mountPath: /a}`, `{name: v}`, `{mountPath: /a}`, `{name: w, mountPath: /a}`, `{name: v, mountPath: a}`,
		`{name: v, mountPath: /a, subPath: b}`, `{name: v, mountPath: /a, subPath: /b}`, `{name: v, mountPath: /a, subPath: ../b}`, `{name: v, mountPath: /a, subPathExpr: $(A)/..}`, `{name: v, mountPath: /a, subPath: b, subPathExpr: c}`,
	} {
		changes = append(changes, `{template: {spec: {volumes: [{name: v}], containers: [{name: main, image: i, volumeMounts: [`+mounts+`]}]}}}`)
	}
	return changes
}

func numbers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d,", i+1)
	}
	return b.String()
}

func decoded(t *testing.T, text string) map[string]any {
	t.Helper()
	object := map[string]any{}
	if err := yaml.Unmarshal([]byte(text), &object); err != nil {
		t.Fatalf("%v in %.200s", err, text)
	}
	return object
}

// lay merges the fields of a change into an object; null removes a field.
func lay(object, change map[string]any) map[string]any {
	result := maps.Clone(object)
	for name, value := range change {
		inner, isObject := value.(map[string]any)
		outer, wasObject := result[name].(map[string]any)
		switch {
		case value == nil:
			delete(result, name)
		case isObject && wasObject:
			result[name] = lay(outer, inner)
		default:
			result[name] = value
		}
	}
	return result
}

// lintServer compares lint with the API server.
type lintServer struct {
	t      *testing.T
	client dynamic.Interface
	into   string
	// taken and refused count accepted and rejected objects, to check that both occur.
	taken, refused int
}

func newLintServer(t *testing.T) *lintServer {
	t.Helper()
	config := rest.CopyConfig(apiServer.Config)
	config.QPS, config.WarningHandler = -1, rest.NoWarnings{}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return &lintServer{t: t, client: client, into: newNamespace(t, newClient(t, apiServer.Config, "user"))}
}

// compare creates the object without storing it: the API server rejects it if, and only if, lint has a finding with
// Rejected.
func (s *lintServer) compare(what, resource string, object map[string]any) {
	s.t.Helper()
	content := runtime.DeepCopyJSON(jsonNumbers(object))
	_, err := s.client.Resource(batchv1.SchemeGroupVersion.WithResource(resource)).Namespace(s.into).Create(s.t.Context(),
		&unstructured.Unstructured{Object: content}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict})
	if err != nil && !apierrors.IsInvalid(err) && !apierrors.IsBadRequest(err) {
		s.t.Fatalf("%.300s: %v", what, err)
	}
	if err == nil {
		s.taken++
	} else {
		s.refused++
	}
	var says []string
	for _, f := range lint.Check(lint.Input{Object: content}) {
		if f.Rejected {
			says = append(says, f.Field+": "+f.Message)
		}
	}
	if (err != nil) != (len(says) > 0) {
		s.t.Errorf("%.300s\nthe API server: %v\nlint: %q", what, err, says)
	}
}

// jsonNumbers converts floats from YAML to integers.
func jsonNumbers(object map[string]any) map[string]any {
	data, _ := yaml.Marshal(object)
	u := &unstructured.Unstructured{Object: map[string]any{}}
	if json, err := yaml.YAMLToJSON(data); err != nil || u.UnmarshalJSON(json) != nil {
		panic("not an object: " + string(data))
	}
	return u.Object
}

func asJob(spec map[string]any, base map[string]any) map[string]any {
	return lay(base, map[string]any{"apiVersion": "batch/v1", "kind": "Job", "spec": spec})
}

// The API server also accepts all documented manifests, except for JobSet, which it does not know.
// Requirements: LNT-02
func TestAPIServerAcceptsTheDocumentedManifests(t *testing.T) {
	t.Parallel()
	s := newLintServer(t)
	objects, problems := manifest.Read(t.Context(), manifest.Options{Files: []string{"../../../internal/cli/lint/testdata/documented"}, Recursive: true})
	for _, o := range objects {
		resource := map[string]string{"Job": "jobs", "CronJob": "cronjobs"}[o.Kind()]
		if resource == "" {
			continue
		}
		metadata, _ := o.Content["metadata"].(map[string]any)
		delete(metadata, "namespace")
		s.compare(o.Position("").String(), resource, o.Content)
	}
	if len(problems) > 0 || s.refused > 0 || s.taken < 35 {
		t.Errorf("%v; %d taken, %d refused", problems, s.taken, s.refused)
	}
}

// Each change alone, on a plain and on an Indexed Job, and in a CronJob.
// Requirements: LNT-01, PFP-11, PFP-12, BLI-01, BLI-30, PRP-01, SUC-01, SUC-02
func TestLintRejectsWhatTheAPIServerRejects(t *testing.T) {
	t.Parallel()
	s := newLintServer(t)
	base := decoded(t, lintBase)
	indexed := decoded(t, `{completionMode: Indexed, completions: 5, backoffLimitPerIndex: 1}`)
	for _, change := range lintChanges() {
		for _, spec := range []map[string]any{decoded(t, change), lay(indexed, decoded(t, change))} {
			job := asJob(spec, base)
			s.compare(change, "jobs", job)
			s.compare("CronJob: "+change, "cronjobs", map[string]any{
				"apiVersion": "batch/v1", "kind": "CronJob", "metadata": map[string]any{"name": "a"},
				"spec": map[string]any{"schedule": "0 3 * * *", "jobTemplate": map[string]any{"spec": job["spec"]}},
			})
		}
	}
	if s.taken < 50 || s.refused < 50 {
		t.Errorf("%d taken and %d refused", s.taken, s.refused)
	}
}

// Several changes at once.
// Requirements: PFP-12, BLI-30, SUC-02
func TestLintAgreesWithTheAPIServerAtRandom(t *testing.T) {
	t.Parallel()
	s := newLintServer(t)
	base, changes := decoded(t, lintBase), lintChanges()
	random := rand.New(rand.NewPCG(4443, 3850)) // deterministic
	for range 400 {
		spec := map[string]any{}
		var what []string
		for range 2 + random.IntN(4) {
			change := changes[random.IntN(len(changes))]
			what = append(what, fmt.Sprintf("%.120s", change))
			spec = lay(spec, decoded(t, change))
		}
		s.compare(strings.Join(what, " + "), "jobs", asJob(spec, base))
	}
	if s.taken < 20 || s.refused < 100 {
		t.Errorf("%d taken and %d refused", s.taken, s.refused)
	}
}

// The fields of CronJobs around the Job, schedules in particular.
// Requirements: JOB-40
func TestLintOfCronJobsAgreesWithTheAPIServer(t *testing.T) {
	t.Parallel()
	s := newLintServer(t)
	job := asJob(decoded(t, `{}`), decoded(t, lintBase))
	changes := []string{
		`{concurrencyPolicy: Allow}`, `{concurrencyPolicy: Forbid}`, `{concurrencyPolicy: Replace}`, `{concurrencyPolicy: ""}`, `{concurrencyPolicy: forbid}`,
		`{successfulJobsHistoryLimit: 0}`, `{successfulJobsHistoryLimit: -1}`, `{failedJobsHistoryLimit: -1}`, `{startingDeadlineSeconds: 0}`, `{startingDeadlineSeconds: -1}`,
		`{timeZone: ""}`, `{timeZone: Local}`, `{timeZone: local}`, `{timeZone: UTC}`, `{timeZone: Europe/Berlin}`, `{timeZone: Mars/Olympus}`, `{timeZone: ../UTC}`,
	}
	for _, schedule := range []string{
		"", " ", "0 3 * * *", "0 3 * *", "0 3 * * * *", "*/5 0-23/2 1,15 jan-MAR sun", "? * ? * ?", "60 * * * *", "59 23 31 12 6", "* 24 * * *", "* * 0 * *", "* * 32 * *", "* * * 0 *", "* * * 13 *",
		"* * * * 7", "*/0 * * * *", "*/60 * * * *", "*/x * * * *", "5-1 * * * *", "1-5/2 * * * *", "1-2-3 * * * *", "1/2/3 * * * *", "5/10 * * * *", "1,2,x * * * *", "1,,2 * * * *", ", * * * *", "-1 * * * *",
		"+1 * * * *", "1- * * * *", "5/ * * * *", "* * * mon *", "* * * * monday", "*-5 * * * *", "@daily", "@Daily", "@every 1h30m", "@every x", "@every", "@often", "@daily ", " @daily", "TZ=UTC 0 3 * * *",
		"CRON_TZ=UTC 0 3 * * *", "0\t3 * * *", "jan * * * *", "?-5 * * * *", "*5 * * * *", "00 03 * * *", "1,2- * * * *", "@reboot", "@yearly", "@annually", "@monthly", "@weekly", "@midnight", "@hourly",
	} {
		changes = append(changes, fmt.Sprintf(`{schedule: %q}`, schedule))
	}
	for _, change := range changes {
		spec := lay(map[string]any{"schedule": "0 3 * * *", "jobTemplate": map[string]any{"spec": job["spec"]}}, decoded(t, change))
		s.compare(change, "cronjobs", map[string]any{"apiVersion": "batch/v1", "kind": "CronJob", "metadata": map[string]any{"name": "a"}, "spec": spec})
	}
	if s.taken < 20 || s.refused < 30 {
		t.Errorf("%d taken and %d refused", s.taken, s.refused)
	}
}

// Requirements: JOB-40
func TestLintOfNamesAgreesWithTheAPIServer(t *testing.T) {
	t.Parallel()
	s := newLintServer(t)
	base := decoded(t, lintBase)
	for _, metadata := range []string{
		`{name: ""}`, `{name: "", generateName: a-}`, `{name: A}`, `{name: a_b}`, `{name: a.b}`, `{name: ` + strings.Repeat("a", 61) + `}`, `{name: ` + strings.Repeat("a", 62) + `}`,
		`{name: ` + strings.Repeat("a", 63) + `}`, `{name: ` + strings.Repeat("a", 64) + `}`, `{name: ` + strings.Repeat("a", 52) + `}`, `{name: ` + strings.Repeat("a", 53) + `}`,
	} {
		for _, spec := range []string{`{}`, `{completionMode: Indexed, completions: 5}`, `{completionMode: Indexed, completions: 10}`, `{completionMode: Indexed, completions: 11}`, `{completionMode: Indexed}`} {
			job := lay(asJob(decoded(t, spec), base), map[string]any{"metadata": decoded(t, metadata)})
			s.compare(metadata+spec, "jobs", job)
			s.compare("CronJob: "+metadata+spec, "cronjobs", map[string]any{
				"apiVersion": "batch/v1", "kind": "CronJob", "metadata": job["metadata"],
				"spec": map[string]any{"schedule": "0 3 * * *", "jobTemplate": map[string]any{"spec": job["spec"]}},
			})
		}
	}
}
