package apirules

import (
	"math"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"
)

const add = "add it"

// podPaths are the conditions for single fields, and for fields of one object.
var podPaths = pathsOf(func() []rule { return slices.Concat(containerRules(), volumeRules(), podRules()) })

func containerRules() []rule {
	return []rule{
		{"containers[].name", "container-without-name", required("add a name")},
		{"containers[].name", "container-name-invalid", label("the name of a container")},
		{"containers[].image", "container-without-image", required("add an image")},
		{"containers[].ports[].name", "port-name-invalid", format(validation.IsValidPortName, "the name of a port", "use at most 15 lowercase letters, digits and '-', one of them a letter")},
		{"containers[].ports", "port-name-twice", unique("give each port its own name", "name")},
		{"containers[].ports[].containerPort", "port-invalid", port},
		{"containers[].ports[].hostPort", "port-invalid", between(0, math.MaxUint16)},
		{"containers[].resources.claims", "claim-unknown", unique("remove one of them", "name", "request")},
		{"containers[].resources.claims[].request", "reference-name-invalid", label("a request")},
		{"containers[].resizePolicy[].resourceName", "resize-policy-invalid", allowed("cpu", "memory")},
		{"containers[].resizePolicy[].restartPolicy", "resize-policy-invalid", allowed("NotRequired", "RestartContainer")},
		{"containers[].resizePolicy", "resize-policy-invalid", unique("remove one of them", "resourceName")},
		{"containers[].restartPolicy", "container-restart-policy-unknown", given(allowed("Always", "Never", "OnFailure"))},
		{"containers[]", "container-restart-policy-unknown", needs("restartPolicyRules", "restartPolicy", "add restartPolicy: Never, for all other exit codes")},
		{"containers[].restartPolicyRules", "restart-rule-invalid", noMore(20)},
		{"containers[].restartPolicyRules[].action", "restart-rule-invalid", allowed("Restart", "RestartAllContainers")},
		{"containers[].restartPolicyRules[].exitCodes", "restart-rule-invalid", required(add)},
		{"containers[].restartPolicyRules[].exitCodes.operator", "restart-rule-invalid", allowed("In", "NotIn")},
		{"containers[].restartPolicyRules[].exitCodes.values", "restart-rule-invalid", noMore(255)},
		{"containers[].volumeMounts[].mountPath", "mount-without-path", required("add mountPath, where the container sees the volume")},
		{"containers[].volumeMounts", "mount-path-twice", unique("mount one of them elsewhere", "mountPath")},
		{"containers[].volumeMounts[]", "mount-sub-path-invalid", atMostOne("subPath", "subPathExpr")},
		{"containers[].volumeMounts[].subPath|subPathExpr", "mount-sub-path-invalid", relative},
		{"containers[].volumeDevices[].devicePath", "mount-without-path", required(add)},
		{"containers[].volumeDevices[].devicePath", "mount-sub-path-invalid", noUpward},
		{"containers[].volumeDevices", "mount-path-twice", unique("remove one of them", "name")},
		{"containers[].volumeDevices", "mount-path-twice", unique("use another path for one of them", "devicePath")},

		// Environment.
		{"containers[].env[]", "env-value-and-source", valueOrSource},
		{"containers[].env[].name", "env-without-name", required("add a name")},
		{"containers[].env[].name containers[].envFrom[].prefix", "env-name-invalid", format(validation.IsRelaxedEnvVarName, "the name of a variable", "use printable ASCII characters other than '='")},
		{"containers[].env[].valueFrom", "env-source-missing", anyOf("secretKeyRef", "configMapKeyRef", "fieldRef", "resourceFieldRef", "fileKeyRef")},
		{"containers[].env[].valueFrom", "env-two-sources", atMostOne("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef")},
		{"containers[].envFrom[]", "env-source-missing", anyOf("configMapRef", "secretRef")},
		{"containers[].envFrom[]", "env-two-sources", atMostOne("configMapRef", "secretRef")},
		{"containers[].env[].valueFrom.configMapKeyRef|secretKeyRef.name containers[].envFrom[].configMapRef|secretRef.name", "reference-without-name", required("add the name")},
		{"containers[].env[].valueFrom.configMapKeyRef|secretKeyRef.name containers[].envFrom[].configMapRef|secretRef.name", "reference-name-invalid", subdomain("the name of an object")},
		{"containers[].env[].valueFrom.configMapKeyRef|secretKeyRef|fileKeyRef.key", "env-source-incomplete", required("add the key")},
		{"containers[].env[].valueFrom.configMapKeyRef|secretKeyRef.key", "env-source-incomplete", format(validation.IsConfigMapKey, "a key", "use letters, digits, '-', '_' and '.'")},
		{"containers[].env[].valueFrom.fileKeyRef.path", "env-source-incomplete", required(add)},
		{"containers[].env[].valueFrom.fileKeyRef.path", "env-source-incomplete", noUpward},
		{"containers[].env[].valueFrom.resourceFieldRef.resource", "field-ref-invalid", required(add)},
		{"containers[].env[].valueFrom.fieldRef.fieldPath", "field-ref-invalid", fieldPath("metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName",
			"spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs")},
		{"containers[].env[].valueFrom.resourceFieldRef.resource volumes[].downwardAPI.items[].resourceFieldRef.resource", "field-ref-invalid",
			notEmpty(matches(`^(?:limits|requests)\.(?:cpu|memory|ephemeral-storage|hugepages-.*)$`), "the resource that a value comes from", "use limits or requests of cpu, memory or ephemeral-storage, such as limits.memory")},
		{"containers[].env[].valueFrom.fieldRef.apiVersion volumes[].downwardAPI.items[].fieldRef.apiVersion", "field-ref-invalid", format(matches("^v1$"), "the API version of a pod", "write v1, or remove it")},

		// Probes and hooks.
		{"initContainers[].livenessProbe|readinessProbe|startupProbe|lifecycle", "probe-of-init-container", ofSidecar},
		{"containers[].livenessProbe|readinessProbe|startupProbe", "probe-invalid", exactlyOne("exec", "httpGet", "tcpSocket", "grpc")},
		{"containers[].lifecycle.postStart|preStop", "probe-invalid", exactlyOne("exec", "httpGet", "tcpSocket", "sleep")},
		{handlers("exec.command"), "probe-invalid", required("add the command")},
		{handlers("httpGet.port") + handlers("tcpSocket.port") + handlers("grpc.port"), "port-invalid", port},
		{handlers("httpGet.httpHeaders[].name"), "probe-invalid", required(add)},
		{handlers("httpGet.httpHeaders[].name"), "probe-invalid", notEmpty(matches("^[-A-Za-z0-9]+$"), "the name of a header", "use letters, digits and '-'")},
		{handlers("initialDelaySeconds|timeoutSeconds|periodSeconds|successThreshold|failureThreshold"), "probe-invalid", between(0, math.MaxInt32)},
		{"containers[].livenessProbe|startupProbe.successThreshold", "probe-invalid", between(math.MinInt32, 1)},
		{"containers[].livenessProbe|startupProbe.terminationGracePeriodSeconds", "probe-invalid", between(1, math.MaxInt64)},
		{"containers[].readinessProbe.terminationGracePeriodSeconds", "probe-invalid", absent("a readinessProbe restarts nothing, so it has no grace period")},

		// Security.
		{"securityContext.runAsUser|runAsGroup|fsGroup containers[].securityContext.runAsUser|runAsGroup", "user-id-invalid", between(0, math.MaxInt32)},
		{"securityContext.supplementalGroups[]", "user-id-invalid", between(0, math.MaxInt32)},
		{"securityContext.seccompProfile|appArmorProfile.type containers[].securityContext.seccompProfile|appArmorProfile.type", "seccomp-without-type", required("use RuntimeDefault, Unconfined or Localhost")},
		{"securityContext.seccompProfile|appArmorProfile containers[].securityContext.seccompProfile|appArmorProfile", "profile-invalid", localhost},
		{"securityContext.sysctls[].name", "sysctl-invalid", notEmpty(matches(`^[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?(?:[./][a-z0-9](?:[-_a-z0-9]*[a-z0-9])?)*$`), "the name of a sysctl", "use lowercase letters, digits, '-', '_' and '.'")},
		{"securityContext.sysctls[].name", "sysctl-invalid", required(add)},
		{"securityContext.sysctls", "sysctl-invalid", unique("remove one of them", "name")},
	}
}

func volumeRules() []rule {
	return []rule{
		{"volumes[].name", "volume-without-name", required("add a name")},
		{"volumes[].name", "volume-name-invalid", label("the name of a volume")},
		{"volumes", "volume-name-twice", unique("give each volume its own name", "name")},
		{"volumes[]", "volume-of-two-types", atMostOne(volumeTypes()...)},
		{inVolumes("configMap.name secret.secretName persistentVolumeClaim.claimName hostPath.path nfs.server nfs.path csi.driver ephemeral.volumeClaimTemplate image.reference " +
			"iscsi.targetPortal iscsi.iqn rbd.monitors rbd.image cephfs.monitors glusterfs.endpoints glusterfs.path gcePersistentDisk.pdName awsElasticBlockStore.volumeID " +
			"azureFile.secretName azureFile.shareName azureDisk.diskName azureDisk.diskURI flexVolume.driver gitRepo.repository csi.nodePublishSecretRef.name " +
			"projected.sources[].secret|configMap.name projected.sources[].serviceAccountToken|clusterTrustBundle.path " +
			"ephemeral.volumeClaimTemplate.spec ephemeral.volumeClaimTemplate.spec.accessModes " +
			files("key") + "downwardAPI.items[].resourceFieldRef.containerName downwardAPI.items[].resourceFieldRef.resource " + files("path") + downward("path")), "volume-incomplete", required(add)},
		{inVolumes(files("path") + downward("path") + "projected.sources[].serviceAccountToken|clusterTrustBundle.path gitRepo.directory"), "volume-incomplete", relative},
		{inVolumes("hostPath.path"), "volume-incomplete", noUpward},
		{inVolumes("nfs.path"), "volume-incomplete", format(matches("^/"), "a path on the server", "start it with /")},
		{inVolumes("csi.driver ephemeral.volumeClaimTemplate.spec.storageClassName|volumeAttributesClassName csi.nodePublishSecretRef.name projected.sources[].clusterTrustBundle.name"), "volume-incomplete", subdomain("the name of an object")},
		{inVolumes("gcePersistentDisk.partition awsElasticBlockStore.partition iscsi.lun fc.lun"), "volume-incomplete", between(0, math.MaxUint8)},
		{inVolumes("configMap|secret|projected|downwardAPI.defaultMode " + files("mode") + downward("mode")), "file-mode-invalid", fileMode},
		{inVolumes(downward("")), "volume-incomplete", exactlyOne("fieldRef", "resourceFieldRef")},
		{inVolumes(downward("fieldRef.fieldPath")), "field-ref-invalid", fieldPath("metadata.name", "metadata.namespace", "metadata.uid", "metadata.labels", "metadata.annotations")},
		{inVolumes("projected.sources[]"), "volume-of-two-types", atMostOne("secret", "configMap", "downwardAPI", "serviceAccountToken", "clusterTrustBundle", "podCertificate")},
		{inVolumes("projected.sources[].serviceAccountToken.expirationSeconds"), "token-expiration-invalid", between(600, 1<<32)},
		{inVolumes("projected.sources[].clusterTrustBundle"), "volume-incomplete", exactlyOne("name", "signerName")},
	}
}

func podRules() []rule {
	return []rule{
		// Scheduling.
		{"topologySpreadConstraints[].maxSkew", "spread-invalid", required(add)},
		{"topologySpreadConstraints[].maxSkew|minDomains", "spread-invalid", between(1, math.MaxInt32)},
		{"topologySpreadConstraints[].topologyKey", "spread-invalid", required("add it, such as kubernetes.io/hostname")},
		{"topologySpreadConstraints[].whenUnsatisfiable", "spread-invalid", required("use DoNotSchedule or ScheduleAnyway")},
		{"topologySpreadConstraints", "spread-invalid", unique("remove one of them", "topologyKey", "whenUnsatisfiable")},
		{"affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms", "affinity-invalid", required("add a term, or remove the affinity")},
		{"affinity.nodeAffinity|podAffinity|podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[].weight", "affinity-invalid", between(1, 100)},
		{"affinity.nodeAffinity|podAffinity|podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[].weight", "affinity-invalid", required("use 1 to 100")},
		{"tolerations[]", "toleration-invalid", toleration},
		{"tolerations[]", "toleration-invalid", tolerationTime},
		{"tolerations[].key", "toleration-invalid", format(validation.IsQualifiedName, "the key of a taint", keyFix)},
		{nodeExpressions(".key"), "affinity-invalid", required(add)},
		{nodeExpressions(".key"), "affinity-invalid", format(validation.IsQualifiedName, "the key of a label", keyFix)},
		{nodeExpressions(".operator"), "affinity-invalid", allowed("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")},
		{nodeExpressions(""), "affinity-invalid", expression},
		{nodeTerms("matchExpressions[].values[]"), "affinity-invalid", format(validation.IsValidLabelValue, "the value of a label", valueFix)},
		{podTerms(".labelSelector") + podTerms(".namespaceSelector") + "topologySpreadConstraints[].labelSelector volumes[].ephemeral.volumeClaimTemplate.spec.selector", "label-selector-invalid", selector},
		{podTerms(""), "affinity-invalid", needs("matchLabelKeys", "labelSelector", add)},
		{podTerms(""), "affinity-invalid", needs("mismatchLabelKeys", "labelSelector", add)},
		{"topologySpreadConstraints[]", "spread-invalid", needs("matchLabelKeys", "labelSelector", add)},
		{nodeTerms("matchFields[].key"), "affinity-invalid", allowed("metadata.name")},
		{nodeTerms("matchFields[].operator"), "affinity-invalid", allowed("In", "NotIn")},
		{nodeTerms("matchFields[].values"), "affinity-invalid", required(add)},
		{"topologySpreadConstraints[].matchLabelKeys[]", "spread-invalid", key("the key of a label")},
		{"affinity.podAffinity|podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[].podAffinityTerm", "affinity-invalid", required(add)},
		{podTerms(".topologyKey"), "affinity-invalid", required("add it, such as kubernetes.io/hostname")},
		{podTerms(".topologyKey"), "affinity-invalid", format(validation.IsQualifiedName, "the key of a label", keyFix)},
		{podTerms(".namespaces[]"), "affinity-invalid", notEmpty(validation.IsDNS1123Label, "the name of a namespace", labelFix)},
		{podTerms(".matchLabelKeys[]") + podTerms(".mismatchLabelKeys[]"), "affinity-invalid", key("the key of a label")},
		{"resourceClaims[].name", "claim-unknown", required(add)},
		{"resourceClaims[].name", "claim-unknown", label("the name of a resource claim")},
		{"resourceClaims[].resourceClaimName|resourceClaimTemplateName", "reference-name-invalid", notEmpty(validation.IsDNS1123Subdomain, "the name of an object", nameFix)},
		{"resourceClaims[]", "claim-unknown", exactlyOne("resourceClaimName", "resourceClaimTemplateName")},
		{"resourceClaims", "claim-unknown", unique("remove one of them", "name")},
		{"schedulingGates[].name readinessGates[].conditionType", "gate-invalid", key("the name of a gate")},
		{"schedulingGates[].name readinessGates[].conditionType", "gate-invalid", required(add)},
		{"schedulingGates", "gate-invalid", unique("remove one of them", "name")},

		// The pod.
		{"containers", "no-containers", required("add a container")},
		{"activeDeadlineSeconds", "pod-deadline-invalid", between(1, math.MaxInt32)},
		{"hostname|subdomain", "hostname-invalid", label("a host name")},
		{"hostnameOverride", "hostname-invalid", notEmpty(validation.IsDNS1123Subdomain, "a host name", nameFix)},
		{"serviceAccountName|nodeName|priorityClassName", "reference-name-invalid", subdomain("the name of an object")},
		{"runtimeClassName", "reference-name-invalid", notEmpty(validation.IsDNS1123Subdomain, "the name of an object", nameFix)},
		{"dnsConfig.nameservers", "dns-config-invalid", noMore(3)},
		{"dnsConfig.nameservers[]", "dns-config-invalid", notEmpty(isIP, "the address of a server", "use an IP address")},
		{"dnsConfig.searches", "dns-config-invalid", noMore(32)},
		{"dnsConfig.searches[]", "dns-config-invalid", notEmpty(matches(`^(?:\.|_?[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?(?:\._?[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?)*\.?)$`), "a domain", nameFix)},
		{"dnsConfig.options[].name", "dns-config-invalid", required(add)},
		{"hostAliases[].ip", "host-alias-invalid", notEmpty(isIP, "an IP address", "use an IP address")},
		{"hostAliases[].ip", "host-alias-invalid", required(add)},
		{"hostAliases[].hostnames[]", "host-alias-invalid", notEmpty(validation.IsDNS1123Subdomain, "a host name", nameFix)},
		{"os.name", "value-unknown", required("use linux or windows")},
		{"ephemeralContainers", "ephemeral-containers", absent("a pod template cannot have ephemeral containers")},
	}
}
