# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2034,SC2154 # for and from lib.sh
#
# Virtual machines for tests, to be sourced after lib.sh. A machine boots a kernel of Debian from an initramfs of
# scripts/vm-image. Its virtual HCAs are nodes of the fabric of start_weftsim. The test runs on the host and sends
# scripts to the machine with in_vm. Machines end with the test, however it ends.
#
# $BUILD/vm/ keeps the console of each machine, and check shows its end after a failure.

vm_folder=$BUILD/vm
declare -A vm_in=() vm_out=() vm_monitor=()
vm_options=()

# vm_tools: fails with the reason if this machine cannot run virtual ones.
vm_tools() {
	local tool

	for tool in qemu-system-x86_64 busybox modprobe cpio; do
		command -v $tool >/dev/null || because "no $tool here (scripts/install-deps check-kernel installs it)" || return 1
	done
}

# prepare_vm KERNEL [FILE...]: the kernel and the image for start_vm, with more files (scripts/vm-kernel and vm-image).
# KERNEL may be debug (scripts/vm-debug-kernel). What is there from an earlier run is used again.
prepare_vm() {
	local name=$1 provide=("$root/scripts/vm-kernel" "$1")

	shift
	[ "$name" != debug ] || provide=("$root/scripts/vm-debug-kernel")
	mkdir -p "$vm_folder"
	vm_kernel=$(BUILD=$BUILD "${provide[@]}" 2>vm-kernel.err) || because "$(tail -n 1 vm-kernel.err)" || return 1
	vm_image=$vm_folder/$name-$(cksum <<<"$*" | cut -d ' ' -f 1).initramfs
	"$root/scripts/vm-image" "$vm_kernel" "$vm_image" lib/guest.sh="$root/tests/vm/guest.sh" "$@" 2>vm-image.err || because "$(tail -n 1 vm-image.err)"
}

# find_verbs: what an image needs for verbs programs goes to the array verbs_files: the provider (scripts/vm-provider), and
# programs. A machine with vm_append=$verbs_modules loads the modules. Fails with the reason if they are not here.
verbs_modules=weft.modules=virtio_net,ib_umad,ib_ipoib,ib_uverbs,rdma_ucm,vhca
verbs_files=()
find_verbs() {
	local library name folder

	for name in ibv_devices ibv_devinfo ibv_asyncwatch ibv_{ud,rc,srq}_pingpong udaddy rping ucmatose ib_acme ibacm; do
		verbs_files+=("$(command -v $name)") || because "no $name here (scripts/install-deps check-kernel installs it)" || return 1
	done
	library=$(BUILD=$BUILD "$root/scripts/vm-provider" 2>vm-provider.err) || because "$(tail -n 1 vm-provider.err)" || return 1
	folder=$(dirname "$(realpath "$(/sbin/ldconfig -p | awk '/libibverbs.so.1 .*x86-64/ { print $NF; exit }')")")
	mkdir -p "$vm_folder"
	[ -e "$vm_folder/vhca.driver" ] || echo 'driver vhca' >"$vm_folder/vhca.driver"
	verbs_files+=("$folder/ibacm/libibacmp.so" "${folder#/}/libibverbs/${library##*/}=$library"
		"etc/libibverbs.d/vhca.driver=$vm_folder/vhca.driver")
}

# start_vm NAME [NODE...]: boots a machine with one HCA for each node, and does not wait for it. $vm_memory has its MiB,
# $vm_append more of the kernel's command line, and vm_options more options of qemu.
start_vm() {
	local name=$1 node end fd machine
	local append="console=ttyS0 loglevel=5 panic=-1 mitigations=off weft.name=$name ${vm_append:-}"
	local command=()

	shift
	for end in agent.in agent.out monitor.in monitor.out; do
		rm -f "$name.$end" && mkfifo "$name.$end" || return 1
	done
	for node; do
		command+=(-n "$node")
	done
	[ $# -eq 0 ] || command=("$BUILD/weftsim" vm "${command[@]}" --)
	machine="-nodefaults -no-user-config -machine pc -bios qboot.rom -accel ${VM_ACCEL:-tcg} -cpu max -smp 1 -display none
		-no-reboot -device virtio-serial-pci -device virtserialport,chardev=agent,name=weft.agent"
	# shellcheck disable=SC2054,SC2206 # words are meant
	command+=(qemu-system-x86_64 $machine -m "${vm_memory:-512}" -kernel "$vm_kernel/vmlinux" -initrd "$vm_image"
		-append "$append" -serial "file:$vm_folder/$name.console" -chardev "pipe,id=agent,path=$PWD/$name.agent"
		-chardev "pipe,id=monitor,path=$PWD/$name.monitor" -mon chardev=monitor,mode=control "${vm_options[@]}")
	ln -sf "$vm_folder/$name.console" "$name-console.log"
	: >"$vm_folder/$name.console"
	exec {fd}<>"$name.agent.in" && vm_in[$name]=$fd
	exec {fd}<>"$name.agent.out" && vm_out[$name]=$fd
	exec {fd}<>"$name.monitor.in" && vm_monitor[$name]=$fd
	"${command[@]}" >"$name.log" 2>&1 &
	pids[$name]=$!
	cat <>"$name.monitor.out" >"$name-monitor.log" &
	pids[$name-monitor]=$!
	monitor "$name" qmp_capabilities
}

# port_guid NET NODE: the GUID of port 1, from the net file of the fabric.
port_guid() {
	printf '%016x' "0x$(sed -n "/\"$2\"/{n;s/^\[1\](\([0-9a-f]*\)).*/\1/p}" "$1")"
}

# vm_is_up NAME [SECONDS]: waits until the machine takes scripts; $said has its uptime and kernel.
vm_is_up() {
	until read -r -t "${2:-120}" said <&"${vm_out[$1]}" && [[ $said == "up "* ]]; do
		runs "$1" && [ -n "$said" ] ||
			because "the machine does not boot: $(tail -n 1 "$1.log" "$vm_folder/$1.console" | tail -n 1)" || return 1
	done
}

# in_vm NAME SCRIPT: executes it there with bash; prints its output and returns its status. A machine runs one script at
# a time. $vm_timeout has its seconds (default 120); after them the status is 124.
in_vm() {
	local name=$1 number=$BASHPID.$RANDOM line

	base64 -w 0 <<<"$2" >"$name.script" && echo "$number $(<"$name.script")" >&"${vm_in[$name]}"
	while IFS= read -r -t "${vm_timeout:-120}" line <&"${vm_out[$name]}"; do
		case $line in
		"$number = "*) return "${line##* }" ;;
		"$number "*) printf '%s\n' "${line#* }" ;;
		esac
	done
	return 124
}

# monitor NAME COMMAND [ARGUMENT=VALUE]...: a command of qemu's monitor (QMP). NAME-monitor.log has its answer.
monitor() {
	local name=$1 verb=$2 arguments='' argument value

	shift 2
	for argument; do
		value=${argument#*=}
		[[ $value =~ ^[0-9]+$ ]] || value="\"$value\""
		arguments+=${arguments:+, }"\"${argument%%=*}\": $value"
	done
	echo "{\"execute\": \"$verb\", \"arguments\": {$arguments}}" >&"${vm_monitor[$name]}"
}

# stop_vm NAME: as if its power were cut.
stop_vm() {
	kill_now "$1"
	kill_now "$1-monitor"
}
