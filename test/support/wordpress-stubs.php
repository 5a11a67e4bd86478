<?php
/**
 * Functions of WordPress that the plugin calls, and one page view: `php wordpress-stubs.php STORE NOW ATTRIBUTES` renders
 * the shortcode with the transients of the file STORE at the second NOW, and prints JSON.
 */
[, $store_file, $now, $attributes] = $argv;
define('ABSPATH', __DIR__);
error_reporting(E_ALL);
set_error_handler(function ($level, $message, $file, $line) {
    throw new ErrorException($message, 0, $level, $file, $line);
});

$store = is_file($store_file) ? json_decode(file_get_contents($store_file), true) : array();
$shortcodes = $actions = $blocks = $scripts = $requests = array();

class WP_Error
{
}

function add_shortcode($name, $callback)
{
    global $shortcodes;
    $shortcodes[$name] = $callback;
}

function add_action($name, $callback)
{
    global $actions;
    $actions[$name] = $callback;
}

function shortcode_atts($defaults, $given, $name = '')
{
    return array_merge($defaults, array_intersect_key($given, $defaults));
}

function wp_timezone_string()
{
    return 'Europe/Oslo';
}

function get_transient($key)
{
    global $store, $now;
    strlen($key) <= 172 || trigger_error('a name of a transient has 172 characters at most');
    return isset($store[$key]) && $store[$key]['until'] > (int) $now ? $store[$key]['value'] : false;
}

function set_transient($key, $value, $seconds)
{
    global $store, $now;
    $store[$key] = array('value' => $value, 'until' => (int) $now + $seconds);
    return true;
}

function wp_safe_remote_get($url, $options)
{
    global $requests;
    $requests[] = $url;
    $http = array('timeout' => $options['timeout'], 'ignore_errors' => true);
    try {
        $body = file_get_contents($url, false, stream_context_create(array('http' => $http)));
    } catch (ErrorException $error) {
        return new WP_Error();
    }
    preg_match('#^HTTP/\S+ (\d+)#', $http_response_header[0], $status);
    return array('code' => (int) $status[1], 'body' => $body);
}

function is_wp_error($thing)
{
    return $thing instanceof WP_Error;
}

function wp_remote_retrieve_response_code($response)
{
    return $response['code'];
}

function wp_remote_retrieve_body($response)
{
    return $response['body'];
}

function esc_html($text)
{
    return htmlspecialchars((string) $text, ENT_QUOTES);
}

function esc_url($url, $protocols)
{
    $scheme = parse_url($url, PHP_URL_SCHEME);
    return in_array($scheme, $protocols, true) ? str_replace(array('&', "'", '"', '<', '>'), array('&#038;', '&#039;', '', '', ''), $url) : '';
}

function get_option($name)
{
    return array('date_format' => 'j. F Y')[$name];
}

function wp_date($format, $timestamp, $zone)
{
    return (new DateTimeImmutable("@$timestamp"))->setTimezone($zone)->format($format);
}

function number_format_i18n($number, $decimals = 0)
{
    return number_format($number, $decimals, ',', ' ');
}

function determine_locale()
{
    return 'nb_NO';
}

function register_block_type($name, $options)
{
    global $blocks;
    $blocks[$name] = $options;
}

function wp_register_script($handle, $src, $packages, $version, $in_footer)
{
    global $scripts;
    $scripts[$handle] = '';
}

function wp_add_inline_script($handle, $script)
{
    global $scripts;
    $scripts[$handle] .= $script;
}

require __DIR__ . '/../../docs/wordpress/course-dates.php';
$actions['init']();
$given = json_decode($attributes, true);
$html = $shortcodes['course_dates']($given);
$in_block = $blocks['course-dates/list']['render_callback'](is_array($given) ? $given : array());
file_put_contents($store_file, json_encode($store));
echo json_encode(array('html' => $html, 'inBlock' => $in_block, 'requests' => $requests, 'scripts' => $scripts));
