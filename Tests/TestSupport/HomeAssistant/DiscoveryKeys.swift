/// The keys of discovery messages that Home Assistant knows and that belong to something this package has.
enum DiscoveryKeys {
    /// What components take over from the device level; nothing else there reaches them.
    static let shared: Set<String> = [
        "availability", "availability_mode", "availability_template", "availability_topic", "command_topic",
        "payload_available", "payload_not_available", "state_topic",
    ]

    static let device: Set<String> = [
        "configuration_url", "connections", "hw_version", "identifiers", "manufacturer", "model", "model_id", "name",
        "serial_number", "suggested_area", "sw_version", "via_device",
    ]

    // `object_id` is left out: deprecated, and `default_entity_id` is nothing that the bridge should choose.
    static let ofEveryComponent: Set<String> = shared.subtracting(["state_topic", "command_topic"]).union([
        "enabled_by_default", "encoding", "entity_category", "entity_picture", "icon", "json_attributes_template",
        "json_attributes_topic", "name", "qos", "unique_id",
    ])

    /// What a component of each kind must and may have.
    static let platforms: [String: (required: Set<String>, optional: Set<String>)] = [
        "sensor": (
            ["state_topic"],
            [
                "device_class", "expire_after", "force_update", "last_reset_value_template", "options", "state_class",
                "suggested_display_precision", "unit_of_measurement", "value_template",
            ]
        ),
        "binary_sensor": (
            ["state_topic"],
            [
                "device_class", "expire_after", "force_update", "off_delay", "payload_off", "payload_on",
                "value_template",
            ]
        ),
        "switch": (
            ["command_topic"],
            state.union(["command_template", "device_class", "payload_off", "payload_on", "state_off", "state_on"])
        ),
        // Without its range it is one of 0 to 100.
        "number": (
            ["command_topic", "min", "max"],
            state.union(["command_template", "device_class", "mode", "payload_reset", "step", "unit_of_measurement"])
        ),
        "text": (["command_topic"], state.union(["command_template", "max", "min", "mode", "pattern"])),
        "select": (["command_topic", "options"], state.union(["command_template"])),
        "image": (["image_topic"], ["content_type", "image_encoding"]),
        "button": (["command_topic"], ["command_template", "device_class", "payload_press", "retain"]),
        "event": (["event_types", "state_topic"], ["device_class", "value_template"]),
        "notify": (["command_topic"], ["command_template", "retain"]),
        "light": (
            ["command_topic"],
            state.union([
                "brightness_command_template", "brightness_command_topic", "brightness_scale",
                "brightness_state_topic", "brightness_value_template", "on_command_type", "payload_off", "payload_on",
                "schema", "state_value_template",
            ])
        ),
    ]

    private static let state: Set<String> = ["optimistic", "retain", "state_topic", "value_template"]

    static let abbreviations = [
        "avty": "availability", "avty_mode": "availability_mode", "avty_t": "availability_topic",
        "avty_tpl": "availability_template", "bri_cmd_t": "brightness_command_topic",
        "bri_cmd_tpl": "brightness_command_template", "bri_scl": "brightness_scale",
        "bri_stat_t": "brightness_state_topic", "bri_val_tpl": "brightness_value_template", "cmd_t": "command_topic",
        "cmd_tpl": "command_template", "cmps": "components", "cont_type": "content_type", "dev": "device",
        "dev_cla": "device_class", "e": "encoding", "en": "enabled_by_default", "ent_cat": "entity_category",
        "evt_typ": "event_types", "exp_aft": "expire_after", "frc_upd": "force_update", "ic": "icon",
        "img_e": "image_encoding", "img_t": "image_topic", "json_attr_t": "json_attributes_topic",
        "json_attr_tpl": "json_attributes_template", "lrst_val_tpl": "last_reset_value_template", "o": "origin",
        "off_dly": "off_delay", "on_cmd_type": "on_command_type", "ops": "options", "opt": "optimistic",
        "p": "platform", "pl_avail": "payload_available", "pl_not_avail": "payload_not_available",
        "pl_off": "payload_off", "pl_on": "payload_on", "pl_prs": "payload_press", "pl_rst": "payload_reset",
        "ptrn": "pattern", "ret": "retain", "stat_cla": "state_class", "stat_off": "state_off", "stat_on": "state_on",
        "stat_t": "state_topic", "stat_val_tpl": "state_value_template", "sug_dsp_prc": "suggested_display_precision",
        "t": "topic", "uniq_id": "unique_id", "unit_of_meas": "unit_of_measurement", "val_tpl": "value_template",
    ]

    static let deviceAbbreviations = [
        "cns": "connections", "cu": "configuration_url", "hw": "hw_version", "ids": "identifiers",
        "mdl": "model", "mdl_id": "model_id", "mf": "manufacturer", "sa": "suggested_area", "sn": "serial_number",
        "sw": "sw_version",
    ]

    static let originAbbreviations = ["sw": "sw_version", "url": "support_url"]
}
