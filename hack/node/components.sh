# Sourced: `start_all` starts the control plane and the node, and returns once pods can run.
# shellcheck shell=sh

pki=/run/node/pki

# start NAME [ARGUMENT...]: in the background, with a log of its own
start() {
	name=$1
	shift
	"$name" "$@" >"/var/log/$name.log" 2>&1 </dev/null &
}

# until_works SECONDS COMMAND...: tries it until it works
until_works() {
	deadline=$(($(date +%s) + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ "$(date +%s)" -lt "$deadline" ] || { echo "in vain: $*" >&2; "$@"; return 1; }
		sleep 0.2
	done
}

start_control_plane() {
	start etcd --data-dir /run/node/etcd --unsafe-no-fsync --log-level warn
	start kube-apiserver --etcd-servers http://127.0.0.1:2379 \
		--advertise-address 10.99.0.1 --secure-port 6443 --service-cluster-ip-range 10.97.0.0/16 \
		--tls-cert-file $pki/apiserver.crt --tls-private-key-file $pki/apiserver.key --client-ca-file $pki/ca.crt \
		--service-account-issuer https://kubernetes.default.svc \
		--service-account-key-file $pki/accounts.key --service-account-signing-key-file $pki/accounts.key \
		--kubelet-client-certificate $pki/admin.crt --kubelet-client-key $pki/admin.key \
		--kubelet-certificate-authority $pki/ca.crt --kubelet-preferred-address-types InternalIP \
		--authorization-mode Node,RBAC \
		--enable-admission-plugins NodeRestriction,OwnerReferencesPermissionEnforcement
	until_works 60 kubectl get --raw /readyz || return
	start kube-controller-manager --kubeconfig /run/node/kube-controller-manager.kubeconfig --leader-elect=false \
		--use-service-account-credentials --root-ca-file $pki/ca.crt --service-account-private-key-file $pki/accounts.key
	start kube-scheduler --kubeconfig /run/node/kube-scheduler.kubeconfig --leader-elect=false
}

start_containerd() {
	start containerd --config /run/node/config/containerd.toml
	until_works 30 ctr version || return
	for image in /run/node/*.tar; do
		ctr -n k8s.io images import --no-unpack "$image" >>/var/log/images.log 2>&1 || { cat /var/log/images.log >&2; return 1; }
	done
}

start_node() {
	start kubelet --config /run/node/config/kubelet.yaml --kubeconfig /run/node/kubelet.kubeconfig \
		--hostname-override node --node-ip 10.99.0.1 --root-dir /var/lib/kubelet
	start kube-proxy --config /run/node/config/kube-proxy.yaml --hostname-override node
}

start_all() {
	start_control_plane && start_containerd && start_node &&
		until_works 60 kubectl get node node && kubectl wait --for condition=Ready node/node --timeout 90s >/dev/null &&
		until_works 30 kubectl get serviceaccount default
}
